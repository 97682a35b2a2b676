package org.softrdma.bench.papers;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.softrdma.bench.compare.HerdClaims;
import org.softrdma.bench.papers.LedgerEntry.Finding;

/**
 * Figures of HERD (Kalia, Kaminsky, Andersen, SIGCOMM 2014), as far as our text of the paper goes, from results of {@code
 * softrdma perf floor}, {@code perf verbs} and {@code compare}. Stateless.
 */
final class HerdEntries {
    static final List<LedgerEntry> ALL = List.of(
            LedgerEntry.notInOurText(
                    "H-Tab1", "verbs of each transport", "as the table", "the text refers to the table only"),
            VerbsFigures.entry(
                    "H-Fig2",
                    "latency of verbs",
                    "an unsignalled WRITE takes half of a READ: there and back takes about as long",
                    VerbsFigures::echoTakesAsLongAsRead),
            new LedgerEntry(
                    "H-Fig3b",
                    "verbs that a server takes",
                    "more WRITEs than READs per second, while they are small",
                    LedgerSources.Source.PERF,
                    HerdEntries::moreWrites),
            new LedgerEntry(
                    "H-Fig4b",
                    "verbs that a server sends",
                    "more WRITEs than READs per second, while they are small: each costs the side that sends it less",
                    LedgerSources.Source.PERF,
                    HerdEntries::cheaperWrites),
            LedgerEntry.judged(
                    "H-Sec3",
                    "WRITEs over unreliable connections and SENDs of datagrams",
                    "they cost the server less than reliable connections",
                    HerdClaims::unreliable),
            LedgerEntry.notInOurText(
                    "H-Fig9 to H-Fig14",
                    "HERD beside emulations of Pilaf and FaRM",
                    "one round trip wins",
                    "it ends before them; compare has their axes"));

    private HerdEntries() {}

    private static Finding moreWrites(LedgerSources sources) {
        return writesBesideReads(
                sources, "readsPerSecond", "WRITEs beside READs per second", Comparator.reverseOrder());
    }

    /** By its CPU: the load of {@code perf floor} takes a core of its own, and is what sends. */
    private static Finding cheaperWrites(LedgerSources sources) {
        return writesBesideReads(
                sources,
                "clientCpuMicrosPerRead",
                "CPU of the side that sends, WRITEs beside READs",
                Comparator.naturalOrder());
    }

    /**
     * Of the smallest size and the widest window, as the paper tunes its windows: a READ follows the WRITEs of each window, so
     * that with one outstanding half of the work is a READ's. WRITEs come first in this order.
     */
    private static Finding writesBesideReads(
            LedgerSources sources, String figure, String what, Comparator<Double> order) {
        List<JsonNode> cells = sources.floor();
        if (cells.isEmpty()) {
            return Finding.notRun(
                    "there are no results of perf floor: run ./softrdma perf floor --operations read,write"
                            + " --sizes 32 --json perf-floor.json");
        }
        int size = cells.stream()
                .mapToInt(cell -> cell.path("sizeBytes").asInt())
                .min()
                .orElse(0);
        int window = cells.stream()
                .mapToInt(cell -> cell.path("window").asInt())
                .max()
                .orElse(0);
        double ratio = figure(cells, "write", size, window, figure) / figure(cells, "read", size, window, figure);
        return Double.isFinite(ratio)
                ? Finding.of(
                        order.compare(ratio, 1.0) < 0,
                        String.format(Locale.ROOT, "%s, %d bytes: %.2f with %d outstanding", what, size, ratio, window))
                : Finding.notRun("the results of perf floor lack WRITEs or READs");
    }

    private static double figure(List<JsonNode> cells, String operation, int size, int window, String figure) {
        return cells.stream()
                .filter(cell -> cell.path("operation").asText().equals(operation)
                        && cell.path("sizeBytes").asInt() == size
                        && cell.path("window").asInt() == window)
                .mapToDouble(cell -> cell.path("soft").path(figure).asDouble(Double.NaN))
                .findFirst()
                .orElse(Double.NaN);
    }
}
