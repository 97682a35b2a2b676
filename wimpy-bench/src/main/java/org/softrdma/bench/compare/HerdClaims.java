package org.softrdma.bench.compare;

import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** What HERD's paper claims of its choice of transports: GETs only, values of 1 KiB, 16 outstanding. Stateless. */
public final class HerdClaims {
    private static final int KIB = 1024;
    private static final int WINDOW = 16;
    private static final String GETS_ONLY = "C";
    /** Costs that differ by less are the same. */
    private static final double SAME = 0.05;

    private HerdClaims() {}

    /** Unreliable transports beside reliable ones. */
    public static Judgement unreliable(CompareResults results) {
        String subject = "herd beside herd-rc, 1 KiB, server CPU";
        String said = "unreliable transports cost the server less than reliable ones";
        List<CompareRow> cell = results.cell(KIB, WINDOW, GETS_ONLY);
        Optional<CompareRow> herd = measured(cell, "herd");
        Optional<CompareRow> reliable = measured(cell, "herd-rc");
        if (herd.isEmpty() || reliable.isEmpty()) {
            return Judgement.notMeasured(
                    subject, said, "it takes herd and herd-rc: ./softrdma compare --device wire=roce");
        }
        if (herd.get().isNoisy(CompareRow.SERVER_CPU) || reliable.get().isNoisy(CompareRow.SERVER_CPU)) {
            return Judgement.notJudged(subject, said, "", "rounds of one of them lie too far apart");
        }
        double own = herd.get().value(CompareRow.SERVER_CPU);
        double others = reliable.get().value(CompareRow.SERVER_CPU);
        boolean holds = own <= others * (1 - SAME);
        return new Judgement(
                subject,
                said,
                String.format(
                        Locale.ROOT, "%.2f \u00b5s and %.2f \u00b5s, %.2f times as much", own, others, own / others),
                Verdict.of(holds),
                holds ? "" : "it takes as much, or more");
    }

    private static Optional<CompareRow> measured(List<CompareRow> cell, String system) {
        return CompareResults.of(cell, system).filter(row -> Double.isFinite(row.value(CompareRow.SERVER_CPU)));
    }
}
