package org.softrdma.bench.compare;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.softrdma.stores.StoreCounter;

/**
 * What was predicted before anything was measured: GETs only, 16 outstanding on each of 8 connections, on one core.
 * CPU was predicted in microseconds on one machine, on which a GET by {@code kv} was to take 0.75 to 1.0, so on any
 * machine it is compared with {@code kv} of the same run. Stateless.
 */
final class Predictions {
    private static final int SMALL = 32;
    private static final int KIB = 1024;
    private static final int WINDOW = 16;
    private static final String GETS_ONLY = "C";
    private static final double TOLERANCE = 0.15;
    private static final double KV_LOW = 0.75;
    private static final double KV_HIGH = 1.0;
    /** Entries that the client's cache has spared, per GET. */
    private static final double SPARED = 0.01;

    private static final List<Prediction> ALL = List.of(
            new Prediction("kv", KIB, 2, KV_LOW, KV_HIGH, true, false, false),
            new Prediction("farm", SMALL, 2 * 1.05, 0.6, 0.6, true, false, true),
            new Prediction("farm", KIB, 2 * 2.06, 1.35, 1.35, true, false, true),
            new Prediction("nessie", KIB, 2 * 2.12, 1.3, 1.3, true, true, true),
            new Prediction("pilaf", KIB, 2 * 3.09, 1.9, 1.9, true, false, true),
            new Prediction("pilaf-vo", KIB, 2, 1.0, 1.3, false, false, true),
            new Prediction("herd-rc", KIB, 2, 1.0, 1.3, false, false, false),
            new Prediction("nessie-sd", KIB, 2, 1.0, 1.3, false, false, true),
            new Prediction("herd", KIB, 2, 2, 3.5, false, false, false));

    private Predictions() {}

    /**
     * A prediction of one design.
     *
     * @param messages in both directions per GET
     * @param low least microseconds of server CPU per GET
     * @param high most
     * @param getsWithoutServer GETs go on while the server's application stands still
     * @param putsWithoutServer so do PUTs
     * @param provesMiss a GET that finds nothing proves it, or the server has answered; false if nothing was said
     */
    private record Prediction(
            String system,
            int valueBytes,
            double messages,
            double low,
            double high,
            boolean getsWithoutServer,
            boolean putsWithoutServer,
            boolean provesMiss) {}

    /** Judges all of them. */
    static List<Judgement> judge(CompareResults results) {
        List<Judgement> list = new ArrayList<>();
        for (Prediction prediction : ALL) {
            list.add(messages(prediction, results));
            list.add(cpu(prediction, results));
        }
        for (Prediction prediction : ALL) {
            if (prediction.valueBytes == KIB && !prediction.system.equals("kv")) {
                list.add(promises(prediction, results));
            }
        }
        list.add(headline(results));
        list.addAll(HerdPredictions.judge(results));
        return list;
    }

    private static List<CompareRow> cell(CompareResults results, int valueBytes) {
        return results.cell(valueBytes, WINDOW, GETS_ONLY);
    }

    private static Judgement messages(Prediction prediction, CompareResults results) {
        String subject = prediction.system + ", " + size(prediction) + ", messages";
        String said = number(prediction.messages) + " per GET";
        Optional<CompareRow> row = CompareResults.of(cell(results, prediction.valueBytes), prediction.system);
        if (row.isEmpty() || !Double.isFinite(row.get().messages())) {
            return Judgement.notMeasured(subject, said, reason(prediction, results, row.isPresent()));
        }
        double found = row.get().messages();
        boolean holds = Math.abs(found - prediction.messages) <= TOLERANCE * prediction.messages;
        String reads = number(row.get().count(StoreCounter.READS));
        return new Judgement(
                subject,
                said,
                number(found) + " per GET (" + reads + " READs)",
                Verdict.of(holds),
                holds ? "" : unlikePredicted(row.get()));
    }

    private static String unlikePredicted(CompareRow row) {
        double hits = row.count(StoreCounter.CACHE_HITS);
        return hits > SPARED
                ? "its client's cache, which the prediction left out, spares " + number(hits) + " READs of each GET"
                : "retries, skew or fill differ: see the counts of its row";
    }

    private static Judgement cpu(Prediction prediction, CompareResults results) {
        String subject = prediction.system + ", " + size(prediction) + ", server CPU";
        boolean base = prediction.system.equals("kv");
        String micros = prediction.low == prediction.high
                ? number(prediction.low)
                : number(prediction.low) + " to " + number(prediction.high);
        String said = micros + " \u00b5s per GET"
                + (base
                        ? ""
                        : ", that is " + number(prediction.low / KV_HIGH) + " to " + number(prediction.high / KV_LOW)
                                + " times kv's");
        List<CompareRow> cell = cell(results, prediction.valueBytes);
        Optional<CompareRow> row = CompareResults.of(cell, prediction.system);
        Optional<CompareRow> kv = CompareResults.of(cell, "kv");
        double own = row.map(each -> each.value(CompareRow.SERVER_CPU)).orElse(Double.NaN);
        double ofKv = kv.map(each -> each.value(CompareRow.SERVER_CPU)).orElse(Double.NaN);
        if (!Double.isFinite(own) || !Double.isFinite(ofKv)) {
            String because = row.isPresent() && kv.isEmpty()
                    ? "there is no kv to compare with"
                    : reason(prediction, results, row.isPresent());
            return Judgement.notMeasured(subject, said, because);
        }
        if (Stream.of(row, kv).flatMap(Optional::stream).anyMatch(each -> each.isNoisy(CompareRow.SERVER_CPU))) {
            return Judgement.notJudged(subject, said, "", "its rounds, or those of kv, lie too far apart");
        }
        double found = base ? own : own / ofKv;
        double low = base ? prediction.low : prediction.low / KV_HIGH;
        double high = base ? prediction.high : prediction.high / KV_LOW;
        boolean holds = found >= low * (1 - TOLERANCE) && found <= high * (1 + TOLERANCE);
        String because = found < low ? "it costs less" : "it costs more";
        return new Judgement(
                subject,
                said,
                number(own) + " \u00b5s per GET" + (base ? "" : ", " + number(found) + " times kv's"),
                Verdict.of(holds),
                holds ? "" : base ? because + "; this machine is another one" : because);
    }

    private static Judgement promises(Prediction prediction, CompareResults results) {
        String subject = prediction.system + ", its server's application stopped";
        String proven = prediction.provesMiss ? "; a miss is proven" : "";
        String said = goesOn(prediction.getsWithoutServer, prediction.putsWithoutServer) + proven;
        String found = results.promises().stream()
                .filter(each -> each.design().equals(prediction.system))
                .findFirst()
                .map(each -> goesOn(each.getsWithoutServer(), each.putsWithoutServer())
                        + (each.provesMiss() ? "; a miss is proven" : "; a miss proves nothing"))
                .orElse("");
        return Judgement.notJudged(
                subject,
                said,
                found,
                "the program compares what it promises with itself; docs/design/promises.md has the tests");
    }

    private static String goesOn(boolean gets, boolean puts) {
        return !gets ? "nothing goes on" : puts ? "GETs and PUTs go on" : "GETs go on, PUTs do not";
    }

    /** What several designs have fewest of cannot decide between them, and availability is no figure of these results. */
    private static Judgement headline(CompareResults results) {
        List<CompareRow> designs = cell(results, KIB).stream()
                .filter(row -> row.kind() == SystemKind.DESIGN || row.kind() == SystemKind.KV_READ)
                .filter(row -> Double.isFinite(row.value(CompareRow.SERVER_CPU)) && Double.isFinite(row.messages()))
                .sorted(Comparator.comparingDouble(row -> row.value(CompareRow.SERVER_CPU)))
                .toList();
        return Judgement.notJudged(
                "all, 1 KiB",
                "over a software RNIC the design with the fewest messages per GET costs the server least;"
                        + " one-sidedness buys availability, not CPU",
                designs.stream()
                        .map(row -> row.system() + " " + number(row.messages()) + " messages, "
                                + number(row.value(CompareRow.SERVER_CPU)) + " \u00b5s")
                        .collect(Collectors.joining("; ")),
                "several designs have the fewest messages, and cost different amounts");
    }

    private static String reason(Prediction prediction, CompareResults results, boolean measured) {
        if (measured) {
            return "these results have counts only, or their devices count nothing";
        }
        return results.reason(prediction.system)
                .orElseGet(() -> Optional.ofNullable(results.failed().get(prediction.system))
                        .map(reason -> "it has failed: " + reason)
                        .orElse("no row of " + prediction.system + " with " + size(prediction)
                                + ", 16 outstanding, mix C"));
    }

    private static String size(Prediction prediction) {
        return prediction.valueBytes == KIB ? "1 KiB" : prediction.valueBytes + " B";
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, "%.2f", value);
    }
}
