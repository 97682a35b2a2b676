package org.softrdma.bench.compare;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** What the Pilaf paper says of races between GETs and PUTs, beside what was counted on the fabric, which does not judge it. Stateless. */
public final class HotKeysClaims {
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
        String found = results.hotKeys().stream()
                .map(row -> String.format(Locale.ROOT, "%.2f %% of %d keys", PERCENT * row.retries(), row.keys()))
                .collect(Collectors.joining(", "));
        return Judgement.notJudged(
                subject,
                said,
                found,
                "entries do not race here, too few GETs of many keys race to tell, and the paper's most keys were not counted");
    }
}
