package org.softrdma.bench.papers;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.softrdma.bench.floor.VerbsWay;
import org.softrdma.bench.papers.LedgerEntry.Finding;

/**
 * READs beside other ways to get as many bytes, as results of {@code softrdma perf verbs} have them: the first figures of four papers.
 * Immutable.
 */
final class VerbsFigures {
    /** Answers of the paper's shortest and longest requests. */
    private static final int SMALL = 64;

    private static final int LARGE = 4096;
    private static final double SAME = 0.05;
    /** At the smallest size, an ECHO of HERD takes as long as a READ. */
    private static final double CLOSE = 0.15;

    private static final double FASTER_MESSAGES = 9;
    private static final double FASTER_READ = 12;
    private static final double TWICE = 2 * (1 - SAME);
    private static final String IS_TCP = "This RNIC is TCP itself, and a round trip of TCP's is most of each";
    private static final String NO_RESULTS =
            "there are no results of perf verbs: run ./softrdma perf verbs --json perf-verbs.json";
    private static final String NEEDS =
            "it takes results of perf verbs of 64 bytes and less, of 4 KiB and more, one request"
                    + " at a time and many";

    private final List<JsonNode> cells;
    private final int small;
    private final int large;

    private VerbsFigures(List<JsonNode> cells, int small, int large) {
        this.cells = cells;
        this.small = small;
        this.large = large;
    }

    /** What they say, if there are results of small and large answers, one at a time and many. */
    static Finding judge(LedgerSources sources, Function<VerbsFigures, Finding> judge) {
        List<JsonNode> cells = sources.verbs();
        if (cells.isEmpty()) {
            return Finding.notRun(NO_RESULTS);
        }
        int small = cells.stream().mapToInt(VerbsFigures::size).min().orElse(0);
        int large = cells.stream().mapToInt(VerbsFigures::size).max().orElse(0);
        VerbsFigures figures = new VerbsFigures(cells, small, large);
        boolean whole = small <= SMALL && large >= LARGE;
        for (VerbsWay way : VerbsWay.values()) {
            for (boolean single : new boolean[] {true, false}) {
                whole &= Double.isFinite(figures.reads(way, small, single) + figures.reads(way, large, single));
            }
        }
        return whole ? judge.apply(figures) : Finding.notRun(NEEDS);
    }

    private static int size(JsonNode cell) {
        return cell.path("sizeBytes").asInt();
    }

    private static boolean isSingle(JsonNode cell) {
        return cell.path("connections").asInt() * cell.path("window").asInt() == 1;
    }

    private Optional<JsonNode> cell(VerbsWay way, int size, boolean single) {
        return cells.stream()
                .filter(cell ->
                        cell.path("way").asText().equals(way.label()) && size(cell) == size && isSingle(cell) == single)
                .findFirst();
    }

    /** READs while one request of this way is done, side by side. */
    private double reads(VerbsWay way, int size, boolean single) {
        return cell(way, size, single)
                .map(cell -> cell.path("readsBesideThese").asDouble(Double.NaN))
                .orElse(Double.NaN);
    }

    /** Microseconds of one request at a time. */
    private double micros(VerbsWay way, int size) {
        return cell(way, size, true)
                .map(cell -> cell.path("meanMicros").asDouble(Double.NaN))
                .orElse(Double.NaN);
    }

    /** A READ is faster than a request that is answered, and both are faster than TCP. */
    Finding readIsFastest() {
        double send = reads(VerbsWay.SEND, small, true);
        double tcp = reads(VerbsWay.TCP, small, true);
        return Finding.of(send > 1 + SAME && tcp > send, latencies() + ". " + IS_TCP);
    }

    private String latencies() {
        return String.format(
                Locale.ROOT,
                "%d bytes, one at a time: %.1f \u00b5s by READ, %.1f by SENDs, %.1f by WRITEs, %.1f over TCP",
                small,
                micros(VerbsWay.READ, small),
                micros(VerbsWay.SEND, small),
                micros(VerbsWay.WRITE, small),
                micros(VerbsWay.TCP, small));
    }

    /** READs are faster than requests that this way answers while they are small, and hardly when they are large. */
    Finding fasterWhenSmall(VerbsWay way) {
        double first = reads(way, small, false);
        double last = reads(way, large, false);
        return Finding.of(
                first > 1 + SAME && Math.abs(Math.log(last)) < Math.abs(Math.log(first)),
                "READs per second beside " + way.title() + ": " + bySize(way));
    }

    private String bySize(VerbsWay way) {
        return cells.stream()
                .mapToInt(VerbsFigures::size)
                .distinct()
                .sorted()
                .mapToObj(size -> String.format(Locale.ROOT, "%.2f at %d bytes", reads(way, size, false), size))
                .collect(Collectors.joining(", "));
    }

    /** A request by WRITEs, there and back, takes as long as a READ. */
    Finding echoTakesAsLongAsRead() {
        double read = reads(VerbsWay.WRITE, small, true);
        return Finding.of(
                Math.abs(Math.log(read)) <= CLOSE,
                String.format(
                        Locale.ROOT, "%d bytes there and back by WRITEs take %.2f of a READ's time", small, read));
    }

    /** Messages by WRITEs leave TCP far behind, and READs those. */
    Finding leavesTcpBehind() {
        double messages = reads(VerbsWay.TCP, small, false) / reads(VerbsWay.WRITE, small, false);
        double read = reads(VerbsWay.WRITE, small, false);
        return Finding.of(
                messages >= FASTER_MESSAGES && read >= TWICE,
                String.format(
                        Locale.ROOT,
                        "%d bytes: %.2f messages by WRITEs for each by TCP, %.2f READs for each of those. %s; and the"
                                + " paper's READs gain what RoCE's acknowledgements cost its messages",
                        small,
                        messages,
                        read,
                        IS_TCP));
    }

    /** A READ takes a small part of TCP's time, and half of a message's. */
    Finding takesPartOfTcpsTime() {
        return Finding.of(
                reads(VerbsWay.TCP, small, true) >= FASTER_READ && reads(VerbsWay.WRITE, small, true) >= TWICE,
                latencies() + ". " + IS_TCP);
    }
}
