package org.softrdma.testkit.conformance;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Collectors;
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
import org.softrdma.testkit.TwoNodes;
import org.softrdma.testkit.TwoNodesExtension;
import org.softrdma.testkit.conformance.CaseResult.Status;
import org.softrdma.verbs.Capabilities;

/**
 * Runs conformance cases on a provider and reports each result in a line. The cases run on the calling thread, through
 * the JUnit launcher.
 */
public final class ConformanceRunner {
    private static final long CASE_LIMIT_SECONDS = 120;

    private final ConformanceSettings settings;
    private final Set<Integer> selected;
    private final List<KnownDeviation> deviations;
    private final Consumer<String> lines;

    /**
     * Prepares a run.
     *
     * @param settings provider and settings
     * @param selected numbers of the cases to run; empty for all
     * @param deviations known deviations
     * @param lines receives the lines of the result as they are produced
     * @throws IllegalArgumentException if no case has one of the numbers, which it names
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
        requireKnown(selected);
    }

    /**
     * Checks numbers of cases.
     *
     * @param selected numbers
     * @throws IllegalArgumentException if no case has one of them, which it names
     */
    public static void requireKnown(Set<Integer> selected) {
        Set<Integer> unknown = new TreeSet<>(selected);
        CaseMethod.all().forEach(found -> unknown.remove(found.description().number()));
        if (!unknown.isEmpty()) {
            throw new IllegalArgumentException("no case has the number "
                    + unknown.stream().map(String::valueOf).collect(Collectors.joining(", "))
                    + "; softrdma tck --list shows them");
        }
    }

    /**
     * Runs all cases, for tests of a provider.
     *
     * @param settings provider and settings
     * @param lines receives the lines of the result as they are produced
     */
    public static ConformanceReport runAll(ConformanceSettings settings, Consumer<String> lines) {
        return new ConformanceRunner(settings, Set.of(), KnownDeviation.TABLE, lines).run();
    }

    /** Every case, by number. */
    public static List<ConformanceCase> list() {
        return CaseMethod.all().stream()
                .map(CaseMethod::description)
                .sorted(Comparator.comparingInt(ConformanceCase::number))
                .toList();
    }

    /** Runs the cases. */
    public ConformanceReport run() {
        LauncherDiscoveryRequestBuilder request = LauncherDiscoveryRequestBuilder.request();
        CaseMethod.all().stream()
                .filter(this::isSelected)
                .map(CaseMethod::method)
                .forEach(method ->
                        request.selectors(DiscoverySelectors.selectMethod(method.getDeclaringClass(), method)));
        settings.toParameters().forEach(request::configurationParameter);
        request.configurationParameter("junit.jupiter.testmethod.order.default", CaseOrder.class.getName());
        request.configurationParameter(
                "junit.jupiter.execution.timeout.testmethod.default",
                Math.round(CASE_LIMIT_SECONDS * Math.max(1, settings.scale())) + " s");
        Recorder recorder = new Recorder();
        if (recorder.begin()) {
            request.configurationParameter(
                    TwoNodesExtension.DEVIATING,
                    KnownDeviation.numbers(deviations, settings.bareProvider(), settings.knownName(recorder.device)));
            execute(request.build(), recorder);
        }
        return recorder.end();
    }

    private static void execute(LauncherDiscoveryRequest request, TestExecutionListener listener) {
        // If a build tool runs this as one of its tests, its listeners must not see the cases.
        LauncherConfig config = LauncherConfig.builder()
                .enableTestExecutionListenerAutoRegistration(false)
                .enableLauncherSessionListenerAutoRegistration(false)
                .enableLauncherDiscoveryListenerAutoRegistration(false)
                .enablePostDiscoveryFilterAutoRegistration(false)
                .build();
        LauncherFactory.create(config).execute(request, listener);
    }

    private boolean isSelected(CaseMethod found) {
        return selected.isEmpty() || selected.contains(found.description().number());
    }

    /** Turns the launcher's events into results. */
    private final class Recorder implements TestExecutionListener {
        private final List<CaseResult> results = new ArrayList<>();
        private String device = "";
        private String wire = "";
        private @Nullable Capabilities capabilities;
        private long operations;
        private long startedNs;

        /** Opens the nodes once, for the header; false if that fails, because then no case could run. */
        boolean begin() {
            String problem = "";
            try {
                TwoNodes nodes = TwoNodes.open(settings, 0);
                device = nodes.requester().device().name();
                capabilities = nodes.requester().device().capabilities();
                wire = nodes.wire();
                nodes.finish(true);
            } catch (RuntimeException | AssertionError e) {
                problem = FailureReason.of(e);
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
            String count = entry.getKeyValuePairs().get(TwoNodesExtension.OPERATIONS);
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
            String reason = outcome.getThrowable().map(FailureReason::of).orElse("");
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
            return KnownDeviation.find(
                            deviations, settings.bareProvider(), settings.knownName(device), description.number())
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
}
