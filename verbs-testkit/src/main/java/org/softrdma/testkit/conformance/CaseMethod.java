package org.softrdma.testkit.conformance;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.opentest4j.TestAbortedException;
import org.softrdma.testkit.CaseEnvironment;
import org.softrdma.testkit.ConformanceCase;
import org.softrdma.testkit.ConformanceSettings;
import org.softrdma.testkit.TwoNodes;
import org.softrdma.testkit.cases.AccessRightsCases;
import org.softrdma.testkit.cases.AddressCases;
import org.softrdma.testkit.cases.AtomicCases;
import org.softrdma.testkit.cases.AtomicRaceCases;
import org.softrdma.testkit.cases.CompletionChannelCases;
import org.softrdma.testkit.cases.CompletionQueueCases;
import org.softrdma.testkit.cases.ConnectionCases;
import org.softrdma.testkit.cases.DatagramCases;
import org.softrdma.testkit.cases.DatagramServiceCases;
import org.softrdma.testkit.cases.DepthCases;
import org.softrdma.testkit.cases.DeviceCases;
import org.softrdma.testkit.cases.EventCases;
import org.softrdma.testkit.cases.ImmediateCases;
import org.softrdma.testkit.cases.ListenerCases;
import org.softrdma.testkit.cases.MemoryRegionCases;
import org.softrdma.testkit.cases.PinningCases;
import org.softrdma.testkit.cases.PolledMemoryCases;
import org.softrdma.testkit.cases.PostingCases;
import org.softrdma.testkit.cases.QueuePairCases;
import org.softrdma.testkit.cases.QueuePairStateCases;
import org.softrdma.testkit.cases.QueueResizeCases;
import org.softrdma.testkit.cases.QuiescenceCases;
import org.softrdma.testkit.cases.RangeCases;
import org.softrdma.testkit.cases.ReadCases;
import org.softrdma.testkit.cases.RebindCases;
import org.softrdma.testkit.cases.ReregistrationCases;
import org.softrdma.testkit.cases.SendReceiveCases;
import org.softrdma.testkit.cases.SharedReceiveCases;
import org.softrdma.testkit.cases.StandstillCases;
import org.softrdma.testkit.cases.UnreliableConnectionCases;
import org.softrdma.testkit.cases.WindowCases;
import org.softrdma.testkit.cases.WriteCases;

/**
 * A case and its method. {@link ConformanceRunner} runs cases through JUnit; this runs one on the calling thread, for
 * environments whose
 * threads are not JUnit's.
 *
 * @param description what it is about
 * @param method takes {@link TwoNodes}
 */
public record CaseMethod(ConformanceCase description, Method method) {
    /** The classes of cases, in the order in which they run. */
    public static final List<Class<?>> GROUPS = List.of(
            DeviceCases.class,
            MemoryRegionCases.class,
            ReregistrationCases.class,
            PinningCases.class,
            AccessRightsCases.class,
            RangeCases.class,
            CompletionQueueCases.class,
            QueueResizeCases.class,
            CompletionChannelCases.class,
            QueuePairCases.class,
            ConnectionCases.class,
            DepthCases.class,
            ListenerCases.class,
            PostingCases.class,
            SendReceiveCases.class,
            WriteCases.class,
            ReadCases.class,
            AtomicCases.class,
            AtomicRaceCases.class,
            ImmediateCases.class,
            WindowCases.class,
            SharedReceiveCases.class,
            PolledMemoryCases.class,
            RebindCases.class,
            QuiescenceCases.class,
            StandstillCases.class,
            EventCases.class,
            AddressCases.class,
            QueuePairStateCases.class,
            DatagramServiceCases.class,
            UnreliableConnectionCases.class,
            DatagramCases.class);

    /** Every case, by group and in no order within one. */
    public static List<CaseMethod> all() {
        return GROUPS.stream()
                .flatMap(group -> Arrays.stream(group.getDeclaredMethods()))
                .flatMap(method -> Optional.ofNullable(method.getAnnotation(ConformanceCase.class))
                        .map(description -> new CaseMethod(description, method))
                        .stream())
                .toList();
    }

    /**
     * Runs it with two nodes of its own, and ends them.
     *
     * @param settings what the run is about
     * @param environment where it runs
     * @throws TestAbortedException if it does not apply here
     * @throws AssertionError if it fails
     */
    public void run(ConformanceSettings settings, CaseEnvironment environment) {
        TwoNodes nodes = TwoNodes.open(settings, description.number(), environment);
        try {
            invoke(nodes);
        } catch (RuntimeException | Error e) {
            finish(nodes, e);
            throw e;
        }
        nodes.finish(true);
    }

    private static void finish(TwoNodes nodes, Throwable failure) {
        try {
            nodes.finish(failure instanceof TestAbortedException);
        } catch (RuntimeException | Error e) {
            failure.addSuppressed(e);
        }
    }

    private void invoke(TwoNodes nodes) {
        try {
            Constructor<?> constructor = method.getDeclaringClass().getDeclaredConstructor();
            constructor.setAccessible(true);
            method.setAccessible(true);
            method.invoke(constructor.newInstance(), nodes);
        } catch (InvocationTargetException e) {
            switch (e.getCause()) {
                case RuntimeException failure -> throw failure;
                case Error failure -> throw failure;
                case null, default -> throw new AssertionError(description.title() + ": " + e.getCause(), e);
            }
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(method + " cannot be called", e);
        }
    }

    @Override
    public String toString() {
        return description.number() + " " + description.title();
    }
}
