package org.softrdma.suites.tck;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.opentest4j.TestAbortedException;
import org.softrdma.fabric.AdversaryBySeed;
import org.softrdma.fabric.Fabric;
import org.softrdma.fabric.FabricNode;
import org.softrdma.fabric.FabricProvider;
import org.softrdma.fabric.scheduler.SimulationException;
import org.softrdma.testkit.ConformanceCase;
import org.softrdma.testkit.ConformanceSettings;
import org.softrdma.testkit.conformance.CaseMethod;
import org.softrdma.testkit.conformance.CaseResult;
import org.softrdma.testkit.conformance.ConformanceRunner;
import org.softrdma.testkit.conformance.FailureReason;

/**
 * The conformance cases on fabrics. Each case has a fabric of its own, so a case and a seed make a run again, whatever
 * ran before. Immutable; any thread may run a seed, and several may do so at once.
 */
public final class FabricSuite {
    private final ConformanceSettings settings;
    private final List<CaseMethod> cases;

    /**
     * A suite.
     *
     * @param settings options of the devices and the scale; the seed and the address are those of each run
     * @param selected numbers of the cases to run; empty for all
     * @throws IllegalArgumentException if no case has one of the numbers
     */
    public FabricSuite(ConformanceSettings settings, Set<Integer> selected) {
        this.settings = settings;
        cases = CaseMethod.all().stream()
                .filter(found -> selected.isEmpty()
                        || selected.contains(found.description().number()))
                .sorted(Comparator.comparingInt(found -> found.description().number()))
                .toList();
        ConformanceRunner.requireKnown(selected);
    }

    /**
     * Opens a device with the options of each end, so that a wrong option is told once and not by every case.
     *
     * @throws IllegalArgumentException if an option is wrong, or the fabric's
     */
    public void requireDevices() {
        for (Map<String, String> options : List.of(settings.requesterOptions(), settings.responderOptions())) {
            FabricProvider.requireOptions(UnaryOperator.identity(), options);
        }
    }

    /** How many cases it has. */
    public int size() {
        return cases.size();
    }

    /**
     * Runs the cases by a seed.
     *
     * @param seed decides what happens on the fabrics
     * @param failures receives how the run of a failed case ended: threads and last steps
     */
    public List<CaseResult> run(long seed, Consumer<String> failures) {
        List<CaseResult> results = new ArrayList<>();
        for (CaseMethod method : cases) {
            results.add(run(method, seed, failures));
        }
        return results;
    }

    private CaseResult run(CaseMethod method, long seed, Consumer<String> failures) {
        long startNs = System.nanoTime();
        CaseResult.Status status = CaseResult.Status.PASSED;
        String reason = "";
        try {
            reason = runOnce(method, seed);
            if (!reason.isEmpty()) {
                status = CaseResult.Status.SKIPPED;
            }
        } catch (SimulationException e) {
            status = CaseResult.Status.FAILED;
            reason = FailureReason.of(e.getCause() == null ? e : e.getCause());
            failures.accept(String.valueOf(e.getMessage()));
        }
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs);
        ConformanceCase description = method.description();
        return new CaseResult(description.number(), description.title(), description.source(), status, reason, millis);
    }

    /** Why the case was skipped; empty if it was not. */
    private String runOnce(CaseMethod method, long seed) {
        Fabric fabric = new Fabric(seed, new AdversaryBySeed(seed).settings());
        FabricNode responder = fabric.node("responder");
        FabricNode requester = fabric.node("requester");
        ConformanceSettings ofRun =
                settings.withAddress(responder.address().getHostAddress()).withSeed(seed);
        FabricProvider provider = new FabricProvider(requester, responder);
        String[] skipped = {""};
        fabric.run(requester, () -> {
            try {
                method.run(ofRun, new FabricEnvironment(fabric, requester, responder, provider));
            } catch (TestAbortedException e) {
                skipped[0] = FailureReason.of(e);
            }
        });
        return skipped[0];
    }
}
