package org.softrdma.junit;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestExecutionResult.Status;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** The tests of a class, run by JUnit as a user's are. One thread. */
final class TestRun implements TestExecutionListener {
    private final List<String> names = new ArrayList<>();
    private final List<Throwable> failures = new ArrayList<>();
    private int aborted;

    private TestRun() {}

    /** Runs the tests of a class with configuration parameters. */
    static TestRun of(Class<?> tests, Map<String, String> parameters) {
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(DiscoverySelectors.selectClass(tests))
                .configurationParameters(parameters)
                .build();
        TestRun run = new TestRun();
        LauncherFactory.create().execute(request, run);
        return run;
    }

    /** Runs the tests of a class. */
    static TestRun of(Class<?> tests) {
        return of(tests, Map.of());
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        if (test.isTest()) {
            names.add(test.getDisplayName());
            aborted += result.getStatus() == Status.ABORTED ? 1 : 0;
        }
        if (result.getStatus() == Status.FAILED) {
            failures.add(result.getThrowable().orElseThrow());
        }
    }

    /** Names of the tests that were run, in order. */
    List<String> names() {
        return names;
    }

    /** How many gave up by an assumption. */
    int aborted() {
        return aborted;
    }

    /** True if all passed. */
    boolean isGreen() {
        return failures.isEmpty() && aborted == 0;
    }

    /** What the only failure was. */
    Throwable failure() {
        if (failures.size() != 1) {
            throw new AssertionError("expected one failure, not " + failures);
        }
        return failures.getFirst();
    }

    /** Its message. */
    String message() {
        return String.valueOf(failure().getMessage());
    }

    @Override
    public String toString() {
        return names + " " + failures;
    }
}
