package org.softrdma.bench.compare;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * What was predicted of HERD over unreliable transports before it was there, beside READs over the same wire: GETs only, values
 * of 1 KiB, 16 outstanding on each of 8 connections. And what its paper expects of more workers. Stateless.
 */
public final class HerdPredictions {
    private static final String HERD = "herd";
    private static final String KV = "kv";
    private static final int KIB = 1024;
    private static final int WINDOW = 16;
    private static final String GETS_ONLY = "C";
    private static final double TOLERANCE = 0.15;
    /** Costs that differ by less are the same. */
    private static final double SAME = 0.05;

    private HerdPredictions() {}

    /** Judges them; nothing where the design was not to be compared. */
    static List<Judgement> judge(CompareResults results) {
        List<Judgement> list = new ArrayList<>();
        list.add(asKv(
                results,
                CompareRow.SERVER_CPU,
                "server CPU",
                "as much as a READ of kv: a packet comes, a packet goes, and none acknowledges"));
        list.add(asKv(results, CompareRow.GET_P50, "latency", "that of a READ of kv"));
        list.add(Judgement.notMeasured(
                "herd over RoCEv2 and herd-rc over TCP, 1 KiB, server CPU",
                "0.80 times as much",
                "one run has one wire: compare herd with --device wire=roce and herd-rc without, one after the other"));
        list.add(workers(results));
        return list;
    }

    /** The paper's choice of transports. */
    public static Judgement unreliable(CompareResults results) {
        String subject = "herd beside herd-rc, 1 KiB, server CPU";
        String said = "unreliable transports cost the server less than reliable ones";
        List<CompareRow> cell = results.cell(KIB, WINDOW, GETS_ONLY);
        Optional<CompareRow> herd = measured(cell, HERD, CompareRow.SERVER_CPU);
        Optional<CompareRow> reliable = measured(cell, "herd-rc", CompareRow.SERVER_CPU);
        if (herd.isEmpty() || reliable.isEmpty()) {
            return Judgement.notMeasured(
                    subject, said, "it takes herd and herd-rc: ./softrdma compare --device wire=roce");
        }
        return beside(subject, said, herd.get(), reliable.get(), CompareRow.SERVER_CPU, 0, 1 - SAME);
    }

    private static Judgement asKv(CompareResults results, String value, String what, String said) {
        String subject = "herd over RoCEv2, 1 KiB, " + what;
        List<CompareRow> cell = results.cell(KIB, WINDOW, GETS_ONLY);
        Optional<CompareRow> herd = measured(cell, HERD, value);
        Optional<CompareRow> kv = measured(cell, KV, value);
        if (herd.isEmpty() || kv.isEmpty()) {
            String absent = herd.isEmpty() ? HERD : KV;
            return Judgement.notMeasured(
                    subject,
                    said,
                    results.reason(absent).orElse("there is no " + what + " of " + absent + " in these results"));
        }
        return beside(subject, said, herd.get(), kv.get(), value, 1 - TOLERANCE, 1 + TOLERANCE);
    }

    private static Judgement beside(
            String subject, String said, CompareRow row, CompareRow other, String value, double low, double high) {
        if (row.isNoisy(value) || other.isNoisy(value)) {
            return Judgement.notJudged(subject, said, "", "rounds of one of them lie too far apart");
        }
        double ratio = row.value(value) / other.value(value);
        boolean holds = ratio >= low && ratio <= high;
        return new Judgement(
                subject,
                said,
                String.format(
                        Locale.ROOT,
                        "%.2f \u00b5s and %.2f \u00b5s, %.2f times as much",
                        row.value(value),
                        other.value(value),
                        ratio),
                Verdict.of(holds),
                holds ? "" : ratio < low ? "it takes less" : "it takes more");
    }

    private static Optional<CompareRow> measured(List<CompareRow> cell, String system, String value) {
        return CompareResults.of(cell, system).filter(row -> Double.isFinite(row.value(value)));
    }

    /** All servers of this study share one core, so that more threads cannot serve more. */
    private static Judgement workers(CompareResults results) {
        String subject = "herd, 1 and 2 worker threads";
        String said = "two workers serve nearly twice as much as one, each on a core of its own";
        List<String> found = new ArrayList<>();
        for (CompareRow row : results.rows()) {
            if (row.server() == CompareRow.Server.WORKER_THREADS && Double.isFinite(row.value(CompareRow.PER_SECOND))) {
                found.add(String.format(
                        Locale.ROOT,
                        "%s: %.0f/s, %.2f \u00b5s",
                        row.system(),
                        row.value(CompareRow.PER_SECOND),
                        row.value(CompareRow.SERVER_CPU)));
            }
        }
        return found.isEmpty()
                ? Judgement.notMeasured(subject, said, "there are no rows of workers with threads of their own")
                : Judgement.notJudged(
                        subject, said, String.join("; ", found), "the threads of a server share one core here");
    }
}
