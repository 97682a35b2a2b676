package org.softrdma.bench.compare;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * What the Nessie paper says of servers whose cores have other work, judged by the rates beside CPU workers. Stateless.
 */
public final class WorkersClaims {
    private static final String DRIVEN_BY_CLIENTS = "nessie";
    private static final String DRIVEN_BY_SERVERS = "nessie-sd";
    /** Parts that differ by less are the same. */
    private static final double SAME = 0.1;

    private WorkersClaims() {}

    /** Both of them, for the page; none where nothing was measured beside workers. */
    static List<Judgement> judge(CompareResults results) {
        return results.workers().isEmpty() ? List.of() : List.of(unnoticed(results), slower(results));
    }

    /** N-Fig2: READs do not notice what else runs on the server's cores. */
    public static Judgement unnoticed(CompareResults results) {
        String subject = "Nessie, figure 2";
        String said = "clients that READ do not notice CPU workers on the server";
        List<Integer> counts = counts(results);
        if (counts.isEmpty() || !measured(results, DRIVEN_BY_CLIENTS, false, counts)) {
            return Judgement.notMeasured(subject, said, reason(results));
        }
        boolean holds = counts.stream()
                .allMatch(count -> results.partBesideWorkers(DRIVEN_BY_CLIENTS, false, count) >= 1 - SAME);
        String found = parts(results, DRIVEN_BY_CLIENTS, false, counts);
        return new Judgement(subject, said, found, Verdict.of(holds), holds ? "" : rnicIsAThread(results, counts));
    }

    private static String rnicIsAThread(CompareResults results, List<Integer> counts) {
        String thread = "the RNIC works on the server's core, and shares it with the workers";
        return measured(results, DRIVEN_BY_CLIENTS, true, counts)
                ? thread + "; where it comes first: " + parts(results, DRIVEN_BY_CLIENTS, true, counts)
                : thread;
    }

    /** N-Fig7, N-Fig8: the form that is driven by servers loses more. */
    public static Judgement slower(CompareResults results) {
        String subject = "Nessie, figures 7 and 8";
        String said = "a store driven by its clients is faster than one driven by servers beside CPU workers";
        List<Integer> counts = counts(results);
        if (counts.isEmpty()
                || !measured(results, DRIVEN_BY_CLIENTS, false, counts)
                || !measured(results, DRIVEN_BY_SERVERS, false, counts)) {
            return Judgement.notMeasured(subject, said, reason(results));
        }
        List<String> found = new ArrayList<>();
        for (boolean raised : List.of(false, true)) {
            for (int count : results.workerCounts()) {
                double ratio = results.besideWorkers(DRIVEN_BY_CLIENTS, raised, count)
                        / results.besideWorkers(DRIVEN_BY_SERVERS, raised, count);
                if (Double.isFinite(ratio)) {
                    found.add(String.format(
                            Locale.ROOT,
                            "%.2f times as fast beside %d%s",
                            ratio,
                            count,
                            raised ? " (RNIC first)" : ""));
                }
            }
        }
        return Judgement.notJudged(
                subject,
                said,
                String.join(", ", found),
                "figure 8 has its work in the client's threads, which was not measured, and the paper's curve is not compared");
    }

    private static List<Integer> counts(CompareResults results) {
        return results.workerCounts().stream().filter(count -> count > 0).toList();
    }

    private static boolean measured(CompareResults results, String system, boolean raised, List<Integer> counts) {
        return counts.stream().allMatch(count -> Double.isFinite(results.partBesideWorkers(system, raised, count)));
    }

    private static String parts(CompareResults results, String system, boolean raised, List<Integer> counts) {
        return counts.stream()
                .map(count -> String.format(
                        Locale.ROOT,
                        "%.0f %% of its rate beside %d",
                        100 * results.partBesideWorkers(system, raised, count),
                        count))
                .collect(Collectors.joining(", "));
    }

    private static String reason(CompareResults results) {
        return results.reason("CPU workers")
                .orElse("the comparison ran without CPU workers, or without the designs: run ./softrdma compare");
    }
}
