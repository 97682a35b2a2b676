package org.softrdma.testkit.conformance;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.reporting.ReportEntry;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.softrdma.testkit.ConformanceCase;
import org.softrdma.testkit.ConformanceSettings;
import org.softrdma.testkit.Fabric;
import org.softrdma.testkit.FabricExtension;
import org.softrdma.testkit.cases.AccessRightsCases;
import org.softrdma.testkit.cases.CompletionChannelCases;
import org.softrdma.testkit.cases.CompletionQueueCases;
import org.softrdma.testkit.cases.ConnectionCases;
import org.softrdma.testkit.cases.DeviceCases;
import org.softrdma.testkit.cases.ListenerCases;
import org.softrdma.testkit.cases.MemoryRegionCases;
import org.softrdma.testkit.cases.PinningCases;
import org.softrdma.testkit.cases.PostingCases;
import org.softrdma.testkit.cases.QueuePairCases;
import org.softrdma.testkit.cases.QuiescenceCases;
import org.softrdma.testkit.cases.RangeCases;
import org.softrdma.testkit.cases.ReadCases;
import org.softrdma.testkit.cases.RebindCases;
import org.softrdma.testkit.cases.SendReceiveCases;
import org.softrdma.testkit.cases.StandstillCases;
import org.softrdma.testkit.cases.WriteCases;
import org.softrdma.testkit.conformance.CaseResult.Status;
import org.softrdma.verbs.Capabilities;
import org.softrdma.verbs.VerbsException;

/**
 * Runs conformance cases on a provider and tells the results, a line each. The cases run on the calling thread,
 * through the JUnit launcher.
 */
public final class ConformanceRunner {
    /** The classes of cases, in the order in which they run. */
    public static final List<Class<?>> GROUPS = List.of(
            DeviceCases.class,
            MemoryRegionCases.class,
            PinningCases.class,
            AccessRightsCases.class,
            RangeCases.class,
            CompletionQueueCases.class,
            CompletionChannelCases.class,
            QueuePairCases.class,
            ConnectionCases.class,
            ListenerCases.class,
            PostingCases.class,
            SendReceiveCases.class,
            WriteCases.class,
            ReadCases.class,
            RebindCases.class,
            QuiescenceCases.class,
            StandstillCases.class);

    private static final long CASE_LIMIT_SECONDS = 120;

    private final ConformanceSettings settings;
    private final Set<Integer> selected;
    private final List<KnownDeviation> deviations;
    private final Consumer<String> lines;

    /**
     * Prepares a run.
     *
     * @param settings what to run it on
     * @param selected numbers of the cases to run; empty for all
     * @param deviations what is known to fail
     * @param lines takes the lines of the result as they come
     * @throws IllegalArgumentException naming the numbers that no case has
     */
    public ConformanceRunner(
            ConformanceSettings settings,
            Set<Integer> selected,
            List<KnownDeviation> deviations,
            Consumer<String> lines) {
        this.settings = settings;
        this.selected = Set.copyOf(selected);
        this.deviations = List.copyOf(deviations);
        this.lines = lines;
        Set<Integer> unknown = new TreeSet<>(selected);
        cases().forEach(method -> unknown.remove(describe(method).number()));
        if (!unknown.isEmpty()) {
            throw new IllegalArgumentException("no case has the number "
                    + unknown.stream().map(String::valueOf).collect(Collectors.joining(", "))
                    + "; softrdma tck --list tells them");
        }
    }

    /**
     * Runs all cases and returns the failed ones, for tests of a provider.
     *
     * @param settings what to run them on
     * @param lines takes the lines of the result as they come
     */
    public static ConformanceReport runAll(ConformanceSettings settings, Consumer<String> lines) {
        return new ConformanceRunner(settings, Set.of(), KnownDeviation.TABLE, lines).run();
    }

    /** Every case, by number. */
    public static List<ConformanceCase> list() {
        return cases().map(ConformanceRunner::describe)
                .sorted(Comparator.comparingInt(ConformanceCase::number))
                .toList();
    }

    /** Runs the cases. */
    public ConformanceReport run() {
        LauncherDiscoveryRequestBuilder request = LauncherDiscoveryRequestBuilder.request();
        cases().filter(this::isSelected)
                .forEach(method ->
                        request.selectors(DiscoverySelectors.selectMethod(method.getDeclaringClass(), method)));
        settings.toParameters().forEach(request::configurationParameter);
        request.configurationParameter("junit.jupiter.testmethod.order.default", CaseOrder.class.getName());
        request.configurationParameter(
                "junit.jupiter.execution.timeout.testmethod.default",
                Math.round(CASE_LIMIT_SECONDS * Math.max(1, settings.scale())) + " s");
        Recorder recorder = new Recorder();
        if (recorder.begin()) {
            execute(request.build(), recorder);
        }
        return recorder.end();
    }

    private static void execute(LauncherDiscoveryRequest request, TestExecutionListener listener) {
        // The listeners of a build tool that runs this as one of its own tests must not see the cases.
        LauncherConfig config = LauncherConfig.builder()
                .enableTestExecutionListenerAutoRegistration(false)
                .enableLauncherSessionListenerAutoRegistration(false)
                .enableLauncherDiscoveryListenerAutoRegistration(false)
                .enablePostDiscoveryFilterAutoRegistration(false)
                .build();
        LauncherFactory.create(config).execute(request, listener);
    }

    private boolean isSelected(Method method) {
        return selected.isEmpty() || selected.contains(describe(method).number());
    }

    private static Stream<Method> cases() {
        return GROUPS.stream()
                .flatMap(group -> Arrays.stream(group.getDeclaredMethods()))
                .filter(method -> method.isAnnotationPresent(ConformanceCase.class));
    }

    private static ConformanceCase describe(Method method) {
        return Optional.ofNullable(method.getAnnotation(ConformanceCase.class))
                .orElseThrow(() -> new IllegalStateException(method + " is no case"));
    }

    /** Listens to the launcher and makes results of what it says. */
    private final class Recorder implements TestExecutionListener {
        private final List<CaseResult> results = new ArrayList<>();
        private String device = "";
        private String wire = "";
        private @Nullable Capabilities capabilities;
        private long operations;
        private long startedNs;

        /** Opens the fabric once for what the header says; false if it cannot, so that no case could run. */
        boolean begin() {
            String problem = "";
            try {
                Fabric fabric = Fabric.open(settings, 0);
                device = fabric.requester().device().name();
                capabilities = fabric.requester().device().capabilities();
                wire = fabric.wire();
                fabric.finish(true);
            } catch (RuntimeException | AssertionError e) {
                problem = reason(e);
            }
            lines.accept("provider " + settings.provider()
                    + (problem.isEmpty() ? ", device " + device + ", wire " + wire : ", no connection"));
            lines.accept("requester " + settings.requesterOptions() + ", responder "
                    + (settings.sharedDevice() ? "on the same device" : settings.responderOptions()) + ", scale "
                    + settings.scale() + ", seed " + settings.seed());
            if (problem.isEmpty()) {
                lines.accept(String.valueOf(capabilities));
            } else {
                record(new CaseResult(
                        0, "devices open, connect and close", "VerbsProvider", Status.FAILED, problem, 0));
            }
            return problem.isEmpty();
        }

        ConformanceReport end() {
            boolean failed = results.stream().anyMatch(result -> result.status() == Status.FAILED);
            if (operations == 0 && !failed) {
                record(new CaseResult(
                        0,
                        "the run moves data by RDMA",
                        "",
                        Status.FAILED,
                        "no READ, WRITE, SEND or RECV completed with success: nothing was tested",
                        0));
            }
            ConformanceReport report = new ConformanceReport(settings, device, capabilities, wire, operations, results);
            lines.accept(operations + " RDMA operations");
            lines.accept(report.summary());
            return report;
        }

        @Override
        public void executionStarted(TestIdentifier identifier) {
            startedNs = System.nanoTime();
        }

        @Override
        public void reportingEntryPublished(TestIdentifier identifier, ReportEntry entry) {
            String count = entry.getKeyValuePairs().get(FabricExtension.OPERATIONS);
            if (count != null) {
                operations += Long.parseLong(count);
            }
        }

        @Override
        public void executionSkipped(TestIdentifier identifier, String reason) {
            conformanceCase(identifier).ifPresent(description -> record(result(description, Status.SKIPPED, reason)));
        }

        @Override
        public void executionFinished(TestIdentifier identifier, TestExecutionResult outcome) {
            String reason =
                    outcome.getThrowable().map(ConformanceRunner::reason).orElse("");
            Optional<ConformanceCase> description = conformanceCase(identifier);
            if (description.isPresent()) {
                record(
                        switch (outcome.getStatus()) {
                            case SUCCESSFUL -> result(description.get(), Status.PASSED, "");
                            case ABORTED -> result(description.get(), Status.SKIPPED, reason);
                            case FAILED -> result(description.get(), Status.FAILED, reason);
                        });
            } else if (outcome.getStatus() != TestExecutionResult.Status.SUCCESSFUL) {
                record(new CaseResult(0, identifier.getDisplayName(), "", Status.FAILED, reason, 0));
            }
        }

        private CaseResult result(ConformanceCase description, Status status, String reason) {
            long millis = (System.nanoTime() - startedNs) / 1_000_000;
            CaseResult result = new CaseResult(
                    description.number(), description.title(), description.source(), status, reason, millis);
            return KnownDeviation.find(deviations, settings.provider(), device, description.number())
                    .map(result::under)
                    .orElse(result);
        }

        private void record(CaseResult result) {
            results.add(result);
            lines.accept(result.line());
        }

        private Optional<ConformanceCase> conformanceCase(TestIdentifier identifier) {
            return identifier
                    .getSource()
                    .filter(MethodSource.class::isInstance)
                    .map(source -> ((MethodSource) source).getJavaMethod().getAnnotation(ConformanceCase.class));
        }
    }

    /** What went wrong in one line: the message, the cause's when it says more, and where in a case. */
    private static String reason(Throwable failure) {
        String message;
        if (failure instanceof VerbsException verbs) {
            message = verbs.code() + ": " + verbs.getMessage();
        } else if (failure instanceof AssertionError
                || failure.getClass().getName().contains("opentest4j")) {
            message = String.valueOf(failure.getMessage());
        } else {
            message = failure.toString();
        }
        message = message.replace("\r", "").replace("\n", " ").replace("Assumption failed: ", "");
        Optional<StackTraceElement> place = Arrays.stream(failure.getStackTrace())
                .filter(element -> element.getClassName().startsWith("org.softrdma.testkit.cases."))
                .findFirst();
        boolean failed = !failure.getClass().getName().contains("TestAborted");
        return place.filter(element -> failed)
                .map(element -> " (" + element.getFileName() + ":" + element.getLineNumber() + ")")
                .map(message::concat)
                .orElse(message);
    }
}
