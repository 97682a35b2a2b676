package org.softrdma.cli.diagnosis;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.softrdma.cli.command.UserErrorException;
import org.softrdma.fabric.AdversaryBySeed;
import org.softrdma.fabric.Seeds;
import org.softrdma.suites.tck.FabricSuite;
import org.softrdma.testkit.ConformanceSettings;
import org.softrdma.testkit.conformance.CaseResult;

/** The conformance suite on the fabric, by one seed or many: prints results as they come. Runs on the main thread. */
final class TckOnFabric {
    /** Scale unless the user gave one: many seeds find more than many repetitions. */
    static final double SCALE = 0.1;

    private final ConformanceSettings settings;
    private final boolean single;
    private final Seeds seeds;
    private final FabricSuite suite;

    /** Cases and results of a seed. */
    private record Outcome(List<CaseResult> results, List<String> traces) {}

    /**
     * A run to come.
     *
     * @param settings options of the devices, and scale
     * @param cases numbers of the cases; empty for all
     * @param first seed
     * @param count of seeds
     * @throws IllegalArgumentException if no case has one of the numbers
     */
    TckOnFabric(ConformanceSettings settings, Set<Integer> cases, long first, int count) {
        this.settings = settings;
        single = count == 1 && cases.size() == 1;
        seeds = Seeds.of(first, count);
        suite = new FabricSuite(settings, cases);
        try {
            suite.requireDevices();
        } catch (IllegalArgumentException e) {
            throw new UserErrorException("--device: " + e.getMessage(), e);
        }
    }

    /** Runs the cases; true if none failed. */
    boolean run(Consumer<String> lines) {
        lines.accept("fabric, requester " + settings.requesterOptions() + ", responder "
                + (settings.sharedDevice() ? "on the same device" : settings.responderOptions()) + ", scale "
                + settings.scale() + ", " + suite.size() + " cases by " + seeds.count() + " seeds from "
                + seeds.first());
        long[] failed = {0};
        seeds.run(this::outcome, (seed, outcome) -> {
            failed[0] += report(seed, outcome, lines);
            return true;
        });
        lines.accept(failed[0] == 0 ? "no case failed" : failed[0] + " failures");
        return failed[0] == 0;
    }

    private Outcome outcome(long seed) {
        List<String> traces = new ArrayList<>();
        return new Outcome(suite.run(seed, traces::add), traces);
    }

    private long report(long seed, Outcome outcome, Consumer<String> lines) {
        long failed = count(outcome, CaseResult.Status.FAILED);
        lines.accept(
                "seed " + seed + " (" + new AdversaryBySeed(seed) + "): " + count(outcome, CaseResult.Status.PASSED)
                        + " passed, " + failed + " failed, " + count(outcome, CaseResult.Status.SKIPPED) + " skipped");
        for (CaseResult result : outcome.results()) {
            boolean isFailure = result.status() == CaseResult.Status.FAILED;
            if (isFailure || seeds.count() == 1) {
                lines.accept(result.line());
            }
            if (isFailure) {
                lines.accept("      again: " + command(seed, result.number()));
            }
        }
        if (single) {
            outcome.traces().forEach(lines);
        }
        return failed;
    }

    private static long count(Outcome outcome, CaseResult.Status status) {
        return outcome.results().stream()
                .filter(result -> result.status() == status)
                .count();
    }

    private String command(long seed, int number) {
        StringBuilder command = new StringBuilder("softrdma tck --transport fabric --seed " + seed + " --case " + number
                + " --scale " + settings.scale());
        append(command, " --device ", settings.requesterOptions());
        if (settings.sharedDevice()) {
            command.append(" --one-device");
        } else if (!settings.responderOptions().equals(settings.requesterOptions())) {
            append(command, " --responder-device ", settings.responderOptions());
        }
        return command.toString();
    }

    private static void append(StringBuilder command, String option, Map<String, String> values) {
        values.forEach(
                (name, value) -> command.append(option).append(name).append('=').append(value));
    }
}
