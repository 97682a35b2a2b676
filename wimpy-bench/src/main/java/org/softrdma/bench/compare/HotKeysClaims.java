package org.softrdma.bench.compare;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** What the Pilaf paper says of races between GETs and PUTs, judged by what was counted on the fabric. Stateless. */
public final class HotKeysClaims {
    /** How far from one over the number of keys it may be, as a factor. */
    private static final double NEAR = 2;
    /** Fewer retries than these say nothing but that there are few. */
    private static final double FEW = 20;

    private static final double PERCENT = 100;

    private HotKeysClaims() {}

    /** It, for the page; none where nothing was counted. */
    static List<Judgement> judge(CompareResults results) {
        return results.hotKeys().isEmpty() ? List.of() : List.of(retries(results));
    }

    /** P-Fig9: the part of the GETs that READ again is one over the number of keys. */
    public static Judgement retries(CompareResults results) {
        String subject = "Pilaf, figure 9";
        String said = "GETs READ again as often as one over the number of keys";
        if (results.hotKeys().isEmpty()) {
            return Judgement.notMeasured(
                    subject, said, "races were not counted: run ./softrdma compare --fabric with pilaf");
        }
        HotKeysRow fewest = results.hotKeys().getFirst();
        boolean holds = results.hotKeys().stream().allMatch(row -> isExpected(row, fewest));
        String found = results.hotKeys().stream()
                .map(row -> String.format(Locale.ROOT, "%.2f %% of %d keys", PERCENT * row.retries(), row.keys()))
                .collect(Collectors.joining(", "));
        return new Judgement(
                subject,
                said,
                found,
                Verdict.of(holds),
                holds ? "" : "something else than a PUT of the key makes GETs READ again");
    }

    private static boolean isExpected(HotKeysRow row, HotKeysRow fewest) {
        double expected = fewest.retries() * fewest.keys() / row.keys();
        double gets = row.operations() / 2.0;
        return gets * Math.max(expected, row.retries()) < FEW
                || (row.retries() < NEAR * expected && row.retries() > expected / NEAR);
    }
}
