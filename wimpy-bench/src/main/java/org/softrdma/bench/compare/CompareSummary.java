package org.softrdma.bench.compare;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.softrdma.bench.study.ReportText;
import org.softrdma.bench.study.RunWarning;
import org.softrdma.bench.study.Warmth;
import org.softrdma.stores.StoreCounter;

/** What the results say, in sentences with their numbers. */
final class CompareSummary {
    private static final double BUSY_PERCENT = 5;
    private static final double PERCENT = 100;
    private static final double MICROS = 1e6;
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
                ? "This run has no GETs of which the server's CPU is known, warm, and not too noisy."
                : String.join(" ", sentences);
    }

    private Optional<String> sentence(int size, int window) {
        List<CompareRow> cell = results.cell(size, window, GETS_ONLY);
        List<CompareRow> ours = cell.stream()
                .filter(row -> row.kind() == SystemKind.DESIGN || row.kind() == SystemKind.KV_READ)
                .filter(row -> Double.isFinite(row.value(CompareRow.SERVER_CPU)))
                .filter(row -> isWarm(row) && !row.isNoisy(CompareRow.SERVER_CPU))
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

    // ---- verdicts, none of which is given if the run is spoilt

    /** What papers claim, as far as counts of the fabric tell. */
    List<Judgement> countedClaims() {
        List<Judgement> claims = new ArrayList<>(NodesClaims.judge(results));
        claims.addAll(HotKeysClaims.judge(results));
        return unlessSpoilt(claims);
    }

    /** What papers claim of the server's CPU; nothing of a simulated run. */
    List<Judgement> claims() {
        return results.conditions().onFabric() ? List.of() : unlessSpoilt(Claims.judge(results));
    }

    /** What Nessie's paper claims of CPU workers. */
    List<Judgement> workersClaims() {
        return unlessSpoilt(WorkersClaims.judge(results));
    }

    private List<Judgement> unlessSpoilt(List<Judgement> judgements) {
        List<String> spoilt = RunWarning.spoiling(warnings());
        return judgements.stream().map(each -> each.unless(spoilt)).toList();
    }

    // ---- warnings

    /** What a reader must know, one warning of a kind. */
    List<RunWarning> warnings() {
        List<RunWarning> warnings = new ArrayList<>();
        if (results.errors() > 0) {
            warnings.add(new RunWarning(
                    RunWarning.Kind.ERRORS,
                    results.errors() + " operations or systems went wrong: do not use these figures."));
        }
        List<String> counted = results.rows().stream()
                .flatMap(row -> notAsCounted(row).stream())
                .toList();
        if (!counted.isEmpty()) {
            warnings.add(new RunWarning(
                    RunWarning.Kind.NOT_AS_COUNTED,
                    "Clients and the server's device counted other READs per operation: " + String.join("; ", counted)
                            + "."));
        }
        notWarm().ifPresent(warnings::add);
        double waited = waitedPercent();
        if (waited > BUSY_PERCENT && results.conditions().ownCores()) {
            warnings.add(new RunWarning(
                    RunWarning.Kind.NOT_QUIET,
                    String.format(
                            Locale.ROOT,
                            "The machine was not quiet: in half the rows, threads waited more than %.0f %% of the time"
                                    + " for a core that other work had. Run it again when nothing else runs.",
                            Math.min(waited, PERCENT))));
        }
        tooNoisy().ifPresent(warnings::add);
        if (!results.conditions().onFabric() && results.conditions().rounds() < FEW_ROUNDS) {
            warnings.add(new RunWarning(
                    RunWarning.Kind.FEW_ROUNDS,
                    "With " + results.conditions().rounds()
                            + " rounds, differences of a few percent mean nothing; the default is 5 rounds of 2 s."));
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
                Locale.ROOT, "%s, %s: clients %.3f, device %.3f", row.system(), row.title(), asked, served));
    }

    private Optional<RunWarning> notWarm() {
        List<CompareRow> cold = results.rows().stream()
                .filter(row -> !isWarm(row))
                .sorted(Comparator.comparingDouble(CompareSummary::compilingPercent)
                        .reversed())
                .toList();
        return cold.stream()
                .findFirst()
                .map(row -> new RunWarning(
                        RunWarning.Kind.NOT_WARM,
                        String.format(
                                Locale.ROOT,
                                "Servers were not warm yet in %d of %d rows: of %s, %s, %.0f %% of the server's CPU"
                                        + " went into compiling bytecode.",
                                cold.size(),
                                results.rows().size(),
                                row.system(),
                                row.title(),
                                compilingPercent(row))));
    }

    private static boolean isWarm(CompareRow row) {
        double micros = row.cpuByThreads().getOrDefault("jit", 0.0);
        return Warmth.isWarm(compilingPercent(row) / PERCENT, micros * row.value(CompareRow.PER_SECOND) / MICROS);
    }

    private static double compilingPercent(CompareRow row) {
        double whole = row.cpuByThreads().values().stream()
                .mapToDouble(Double::doubleValue)
                .sum();
        return whole == 0 ? 0 : PERCENT * row.cpuByThreads().getOrDefault("jit", 0.0) / whole;
    }

    private Optional<RunWarning> tooNoisy() {
        List<String> noisy = results.rows().stream()
                .filter(row -> row.isNoisy(CompareRow.SERVER_CPU))
                .map(row -> row.system() + ", " + row.title())
                .toList();
        return noisy.isEmpty()
                ? Optional.empty()
                : Optional.of(new RunWarning(
                        RunWarning.Kind.TOO_NOISY,
                        "The server's CPU differs too much between rounds for a number in " + noisy.size() + " of "
                                + results.rows().size() + " rows, the first of them "
                                + noisy.getFirst() + "."));
    }

    private double waitedPercent() {
        double[] waited = results.rows().stream()
                .filter(row -> row.server() != CompareRow.Server.SPINNING)
                .mapToDouble(row -> Math.max(
                        orZero(row.value(CompareRow.SERVER_WAITED)), orZero(row.value(CompareRow.CLIENT_WAITED))))
                .sorted()
                .toArray();
        return waited.length == 0 ? 0 : waited[waited.length / 2];
    }

    private static double orZero(double value) {
        return Double.isNaN(value) ? 0 : value;
    }
}
