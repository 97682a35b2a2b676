package org.softrdma.bench.compare;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.softrdma.bench.study.ReportText;
import org.softrdma.stores.StoreCounter;

/** What the results say, in sentences with their numbers. */
final class CompareSummary {
    private static final double BUSY_PERCENT = 5;
    private static final double COMPILING_PERCENT = 10;
    private static final double PERCENT = 100;
    private static final double SAME = 0.01;
    private static final int FEW_ROUNDS = 5;
    private static final String GETS_ONLY = "C";

    private final CompareResults results;

    CompareSummary(CompareResults results) {
        this.results = results;
    }

    /** The answer on this machine, a sentence for each value size with the widest window. */
    String answer() {
        if (results.conditions().onFabric()) {
            return "This run was simulated: messages, bytes and retries are exact and the same on every machine, and"
                    + " nothing has a duration.";
        }
        List<String> sentences = new ArrayList<>();
        int window = results.rows().stream().mapToInt(CompareRow::window).max().orElse(0);
        results.rows().stream()
                .map(CompareRow::valueBytes)
                .distinct()
                .forEach(size -> sentence(size, window).ifPresent(sentences::add));
        return sentences.isEmpty()
                ? "This run has no GETs of which the server's CPU is known."
                : String.join(" ", sentences);
    }

    private Optional<String> sentence(int size, int window) {
        List<CompareRow> cell = results.cell(size, window, GETS_ONLY);
        List<CompareRow> ours = cell.stream()
                .filter(row -> row.kind() == SystemKind.DESIGN || row.kind() == SystemKind.KV_READ)
                .filter(row -> Double.isFinite(row.value(CompareRow.SERVER_CPU)))
                .sorted(Comparator.comparingDouble(row -> row.value(CompareRow.SERVER_CPU)))
                .toList();
        if (ours.isEmpty()) {
            return Optional.empty();
        }
        CompareRow best = ours.getFirst();
        CompareRow worst = ours.getLast();
        StringBuilder text = new StringBuilder(String.format(
                Locale.ROOT,
                "With values of %s, GETs only and %d outstanding, %s cost its server least, %.2f \u00b5s of CPU per GET"
                        + " (%.2f messages)",
                ReportText.size(size),
                window,
                best.system(),
                best.value(CompareRow.SERVER_CPU),
                best.messages()));
        if (ours.size() > 1) {
            text.append(String.format(
                    Locale.ROOT,
                    ", and %s most, %.2f \u00b5s (%.2f messages)",
                    worst.system(),
                    worst.value(CompareRow.SERVER_CPU),
                    worst.messages()));
        }
        CompareResults.cheapest(cell, SystemKind.MEMCACHED)
                .ifPresent(row -> text.append(String.format(
                        Locale.ROOT,
                        "; memcached in its cheapest form took %.2f \u00b5s",
                        row.value(CompareRow.SERVER_CPU))));
        return Optional.of(text.append('.').toString());
    }

    /** What papers claim, as far as counts of the fabric tell. */
    List<Judgement> countedClaims() {
        List<Judgement> claims = new ArrayList<>(NodesClaims.judge(results));
        claims.addAll(HotKeysClaims.judge(results));
        return claims;
    }

    /** What spoils the results. */
    List<String> warnings() {
        List<String> warnings = new ArrayList<>();
        if (results.errors() > 0) {
            warnings.add(results.errors() + " operations or systems went wrong: do not use these figures.");
        }
        results.rows().forEach(row -> notAsCounted(row).ifPresent(warnings::add));
        notWarm().ifPresent(warnings::add);
        double waited = waitedPercent();
        if (waited > BUSY_PERCENT && results.conditions().ownCores()) {
            warnings.add(String.format(
                    Locale.ROOT,
                    "The machine was not quiet: in half the rows, threads waited more than %.0f %% of the time for a"
                            + " core that other work had. Run it again when nothing else runs.",
                    Math.min(waited, PERCENT)));
        }
        if (!results.conditions().onFabric() && results.conditions().rounds() < FEW_ROUNDS) {
            warnings.add("With " + results.conditions().rounds()
                    + " rounds, differences of a few percent mean nothing; the default is 5 rounds of 2 s.");
        }
        return warnings;
    }

    /** READs that the server's device has counted are those that the clients have. */
    private static Optional<String> notAsCounted(CompareRow row) {
        Double served = row.responder().get("responderReads");
        double asked = row.count(StoreCounter.READS);
        if (served == null || Math.abs(served - asked) <= SAME * Math.max(asked, 1)) {
            return Optional.empty();
        }
        return Optional.of(String.format(
                Locale.ROOT,
                "%s, %s: the clients counted %.3f READs per operation, the server's device %.3f.",
                row.system(),
                row.title(),
                asked,
                served));
    }

    private Optional<String> notWarm() {
        List<CompareRow> cold = results.rows().stream()
                .filter(row -> compilingPercent(row) > COMPILING_PERCENT)
                .sorted(Comparator.comparingDouble(CompareSummary::compilingPercent)
                        .reversed())
                .toList();
        return cold.stream()
                .findFirst()
                .map(row -> String.format(
                        Locale.ROOT,
                        "Servers were not warm yet in %d of %d rows: of %s, %s, %.0f %% of the server's CPU went into"
                                + " compiling bytecode.",
                        cold.size(),
                        results.rows().size(),
                        row.system(),
                        row.title(),
                        compilingPercent(row)));
    }

    private static double compilingPercent(CompareRow row) {
        double whole = row.cpuByThreads().values().stream()
                .mapToDouble(Double::doubleValue)
                .sum();
        return whole == 0 ? 0 : PERCENT * row.cpuByThreads().getOrDefault("jit", 0.0) / whole;
    }

    /** The two threads of a design's server wait for each other, so there only the load's thread tells. */
    private double waitedPercent() {
        double[] waited = results.rows().stream()
                .filter(row -> row.server() != CompareRow.Server.SPINNING)
                .mapToDouble(row -> Math.max(
                        row.kind() == SystemKind.DESIGN ? 0 : orZero(row.value(CompareRow.SERVER_WAITED)),
                        orZero(row.value(CompareRow.CLIENT_WAITED))))
                .sorted()
                .toArray();
        return waited.length == 0 ? 0 : waited[waited.length / 2];
    }

    private static double orZero(double value) {
        return Double.isNaN(value) ? 0 : value;
    }
}
