package org.softrdma.bench.compare;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.softrdma.bench.study.ReportText;
import org.softrdma.stores.StoreCounter;

/**
 * What the papers say of their designs, each beside the design it is compared with: by the server's CPU, GETs only, in
 * every cell of the widest window. Where a claim flips, the counters of both stand beside it. Stateless.
 */
final class Claims {
    private static final String GETS_ONLY = "C";
    /** Costs that differ by less are the same. */
    private static final double SAME = 0.05;

    private static final List<Claim> ALL = List.of(
            new Claim("Pilaf", "GETs by READ cost the server less than GETs by messages", "pilaf", "pilaf-vo"),
            new Claim("HERD", "a request and an answer cost the server less than Pilaf's READs", "herd-rc", "pilaf"),
            new Claim("HERD", "a request and an answer cost the server less than FaRM's READs", "herd-rc", "farm"),
            new Claim("Nessie", "GETs by READ cost the server less than GETs by its threads", "nessie", "nessie-sd"),
            new Claim("FaRM", "fewer READs per GET than Pilaf cost the server less", "farm", "pilaf"),
            new Claim("HERD", "unreliable transports cost the server less than reliable ones", "herd", "herd-rc"),
            new Claim("HERD", "a request and an answer cost the server less than Pilaf's READs", "herd", "pilaf"));

    private Claims() {}

    private record Claim(String paper, String text, String winner, String loser) {}

    /** Judges all of them. */
    static List<Judgement> judge(CompareResults results) {
        int window = results.rows().stream().mapToInt(CompareRow::window).max().orElse(0);
        List<Integer> sizes =
                results.rows().stream().map(CompareRow::valueBytes).distinct().toList();
        List<Judgement> list = new ArrayList<>();
        for (Claim claim : ALL) {
            for (int size : sizes) {
                list.add(judge(claim, results, size, window));
            }
        }
        return list;
    }

    private static Judgement judge(Claim claim, CompareResults results, int size, int window) {
        String subject = claim.paper + ", " + ReportText.size(size) + ", " + window + " outstanding";
        String said = claim.text + " (" + claim.winner + ", " + claim.loser + ")";
        List<CompareRow> cell = results.cell(size, window, GETS_ONLY);
        Optional<CompareRow> winner = measured(cell, claim.winner);
        Optional<CompareRow> loser = measured(cell, claim.loser);
        if (winner.isEmpty() || loser.isEmpty()) {
            String missing = winner.isEmpty() ? claim.winner : claim.loser;
            return Judgement.notMeasured(
                    subject,
                    said,
                    results.reason(missing).orElse("there is no server CPU of " + missing + " in these results"));
        }
        if (winner.get().isNoisy(CompareRow.SERVER_CPU) || loser.get().isNoisy(CompareRow.SERVER_CPU)) {
            return Judgement.notJudged(subject, said, "", "rounds of one of them lie too far apart");
        }
        double ratio = winner.get().value(CompareRow.SERVER_CPU) / loser.get().value(CompareRow.SERVER_CPU);
        boolean holds = ratio < 1 - SAME;
        return new Judgement(
                subject,
                said,
                String.format(
                        Locale.ROOT,
                        "%.2f \u00b5s and %.2f \u00b5s, %.2f times as much",
                        winner.get().value(CompareRow.SERVER_CPU),
                        loser.get().value(CompareRow.SERVER_CPU),
                        ratio),
                Verdict.of(holds),
                holds ? "" : describe(winner.get()) + "; " + describe(loser.get()));
    }

    private static Optional<CompareRow> measured(List<CompareRow> cell, String system) {
        return CompareResults.of(cell, system).filter(row -> Double.isFinite(row.value(CompareRow.SERVER_CPU)));
    }

    private static String describe(CompareRow row) {
        return String.format(
                Locale.ROOT,
                "%s has %.2f messages per GET (%.2f READs), and of %.2f \u00b5s the kernel %.2f",
                row.system(),
                row.messages(),
                row.count(StoreCounter.READS),
                row.value(CompareRow.SERVER_CPU),
                row.cpu().getOrDefault(CompareRow.KERNEL, Double.NaN));
    }
}
