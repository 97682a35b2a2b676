package org.softrdma.junit;

import java.lang.reflect.Method;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.junit.jupiter.api.extension.TestWatcher;
import org.opentest4j.AssertionFailedError;
import org.opentest4j.TestAbortedException;
import org.softrdma.fabric.Fabric;
import org.softrdma.fabric.FabricNode;
import org.softrdma.fabric.FabricSettings;
import org.softrdma.fabric.scheduler.SimulationException;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A test on a fabric with one seed: gives it nodes and devices, and runs its body as a process. On JUnit's thread
 * before the run, in a process within it.
 */
final class FabricRun implements ParameterResolver, InvocationInterceptor, TestWatcher {
    private static final String NODE_OF_THE_TEST = "test";
    /** Virtual time that processes have to end after the body of the test. */
    private static final long PATIENCE_NS = TimeUnit.HOURS.toNanos(1);

    private static final long FIRST_SLICE_NS = TimeUnit.MICROSECONDS.toNanos(10);
    private static final long LONGEST_SLICE_NS = TimeUnit.SECONDS.toNanos(1);

    private final long seed;
    /** Empty if it is the usual one. */
    private final String wire;

    private final Fabric fabric;
    private final WatchedDevices watched;
    private final Runnable failed;
    private final Map<String, FabricNode> nodes = new HashMap<>();
    private final Map<String, VerbsDevice> devices = new HashMap<>();
    private final Map<Integer, FabricNode> nodeOfDevice = new HashMap<>();
    private boolean completed;

    /** With what is told when the test has failed. */
    FabricRun(long seed, String wire, FabricSettings settings, boolean sanitised, Runnable failed) {
        this.seed = seed;
        this.wire = wire;
        this.failed = failed;
        fabric = new Fabric(seed, settings);
        watched = new WatchedDevices(sanitised, fabric.scheduler()::idle, fabric.scheduler()::isUnwinding);
    }

    /** For people. */
    String name() {
        return "seed " + seed + (wire.isEmpty() ? "" : ", " + wire);
    }

    private String replay() {
        return TestSeeds.replay(seed, wire);
    }

    @Override
    public void testFailed(ExtensionContext context, @Nullable Throwable cause) {
        failed.run();
    }

    // ---- parameters

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        Class<?> type = parameter.getParameter().getType();
        return type == Fabric.class || type == FabricNode.class || type == VerbsDevice.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        Class<?> type = parameter.getParameter().getType();
        if (type == Fabric.class) {
            return fabric;
        }
        Optional<NodeName> name = parameter.findAnnotation(NodeName.class);
        if (name.isEmpty()) {
            throw new ParameterResolutionException("which node is meant by the parameter " + parameter.getParameter()
                    + "? Write @NodeName(\"server\") in front of it, for one");
        }
        return type == FabricNode.class
                ? node(name.get().value())
                : device(name.get().value());
    }

    private FabricNode node(String name) {
        return nodes.computeIfAbsent(name, this::newNode);
    }

    private FabricNode newNode(String name) {
        FabricNode node = fabric.node(name);
        node.wrapDevices(device -> {
            VerbsDevice wrapped = watched.wrap(device);
            nodeOfDevice.put(watched.lastNumber(), node);
            return wrapped;
        });
        return node;
    }

    private VerbsDevice device(String name) {
        FabricNode node = node(name);
        VerbsDevice open = devices.get(name);
        if (open == null) {
            open = node.open(Map.of());
            watched.give(open);
            devices.put(name, open);
        }
        return open;
    }

    // ---- the run

    @Override
    public void interceptTestTemplateMethod(
            Invocation<Void> invocation, ReflectiveInvocationContext<Method> method, ExtensionContext context) {
        try {
            fabric.run(fabric.node(NODE_OF_THE_TEST), () -> {
                proceed(invocation);
                end();
            });
        } catch (SimulationException e) {
            fail(e);
        }
        if (!completed) {
            throw new AssertionFailedError("the node \"" + NODE_OF_THE_TEST + "\" is where the body of the test runs:"
                    + " it was killed in the middle; " + replay());
        }
    }

    private static void proceed(Invocation<Void> invocation) throws Exception {
        try {
            invocation.proceed();
        } catch (Exception | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("the test has thrown " + e, e);
        }
    }

    /** In the process of the test, behind its body. */
    private void end() {
        if (!othersHaveEnded()) {
            throw new AssertionFailedError("processes that the test has started still run, "
                    + TimeUnit.NANOSECONDS.toMinutes(PATIENCE_NS) + " virtual minutes after its body has ended");
        }
        IntPredicate isAlive = device -> {
            FabricNode node = nodeOfDevice.get(device);
            return node == null || node.isAlive();
        };
        watched.requireGood(isAlive);
        watched.close(isAlive);
        completed = true;
    }

    /** In small waits, because time leaps to the end of each when all others only poll: they see it pass. */
    private boolean othersHaveEnded() {
        long endNs = fabric.clock().nanoTime() + PATIENCE_NS;
        long sliceNs = FIRST_SLICE_NS;
        while (fabric.clock().nanoTime() < endNs) {
            if (fabric.scheduler().until(() -> fabric.scheduler().processes() == 1, sliceNs)) {
                return true;
            }
            sliceNs = Math.min(2 * sliceNs, LONGEST_SLICE_NS);
        }
        return false;
    }

    private void fail(SimulationException run) {
        Throwable thrown = run.getCause();
        Throwable cause = thrown == null ? null : thrownBy(thrown);
        if (cause instanceof TestAbortedException aborted) {
            throw aborted;
        }
        AssertionFailedError error = described(cause, run);
        watched.explain(error);
        throw error;
    }

    /** What the program has thrown, if the fabric had to wrap it. */
    private static Throwable thrownBy(Throwable thrown) {
        return thrown instanceof UndeclaredThrowableException checked && checked.getCause() != null
                ? checked.getCause()
                : thrown;
    }

    /** The same failure with its seed in front, and with the trace of the run as its cause. */
    private AssertionFailedError described(@Nullable Throwable cause, SimulationException run) {
        StringBuilder message = new StringBuilder(replay())
                .append('\n')
                .append(reason(cause, run))
                .append(watched.alsoBroken());
        for (Throwable other : run.getSuppressed()) {
            message.append("\nand elsewhere on the fabric: ").append(thrownBy(other));
        }
        return FailureText.with(message.toString(), cause, run);
    }

    private static String reason(@Nullable Throwable cause, SimulationException run) {
        if (cause == null) {
            return String.valueOf(run.getMessage()).lines().findFirst().orElse(""); // the rest is its trace
        }
        return FailureText.of(cause);
    }
}
