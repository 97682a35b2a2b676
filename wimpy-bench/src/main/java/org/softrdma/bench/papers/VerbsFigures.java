package org.softrdma.bench.papers;

import java.util.Locale;
import java.util.function.Function;
import java.util.function.IntPredicate;
import java.util.function.IntToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.softrdma.bench.floor.VerbsWay;
import org.softrdma.bench.papers.LedgerJudge.RowsJudge;

/**
 * READs beside other ways to get as many bytes, as results of {@code softrdma perf verbs} have them: the first figures of four papers.
 * Immutable.
 */
final class VerbsFigures {
    private static final String SIZE = "sizeBytes";
    /** Bytes up to which HERD's ECHO is close to a READ. */
    private static final int SMALL = 64;

    private static final int LARGE = 4096;
    /** Bytes up to which FaRM's paper says that READs win. */
    private static final int FARM_SMALL = 256;

    private static final double SAME = StoreFigures.SAME;
    /** What papers call close to each other, or converged. */
    private static final double CLOSE = 0.15;

    private static final double FASTER_MESSAGES = 9;
    private static final double FASTER_READ = 12;
    private static final double TWICE = 2 * (1 - SAME);
    private static final String IS_TCP =
            "A software RNIC is TCP: a READ asks and answers by the same bytes as the C server's clients do";
    private static final String NEEDS =
            "it takes results of perf verbs of 64 bytes and less, of 4 KiB and more, one request"
                    + " at a time and many";

    private final Rows cells;
    private final int small;
    private final int large;

    private VerbsFigures(Rows cells) {
        this.cells = cells;
        small = cells.least(SIZE);
        large = cells.most(SIZE);
    }

    /** Judges if there are results of small and large answers, one at a time and many. */
    static RowsJudge judge(Function<VerbsFigures, LedgerFinding> judge) {
        return rows -> {
            VerbsFigures figures = new VerbsFigures(rows);
            return figures.areWhole() ? judge.apply(figures) : LedgerFinding.notRun(NEEDS);
        };
    }

    private boolean areWhole() {
        boolean whole = small <= SMALL && large >= LARGE;
        for (VerbsWay way : VerbsWay.values()) {
            for (boolean single : new boolean[] {true, false}) {
                whole &= Double.isFinite(reads(way, small, single) + reads(way, large, single));
            }
        }
        return whole;
    }

    private Rows cell(VerbsWay way, int size, boolean single) {
        return cells.where("way", way.name())
                .where(SIZE, size)
                .where(row ->
                        (row.path("connections").asInt() * row.path("window").asInt() == 1) == single);
    }

    /** READs while one request of this way is done, side by side. */
    private double reads(VerbsWay way, int size, boolean single) {
        return cell(way, size, single).first("readsBesideThese");
    }

    /** Microseconds of one request at a time. */
    private double micros(VerbsWay way, int size) {
        return cell(way, size, true).first("meanMicros");
    }

    /** A READ is faster than a request that is answered, and both are faster than TCP. */
    LedgerFinding readIsFastest() {
        double send = reads(VerbsWay.SEND, small, true);
        double tcp = reads(VerbsWay.TCP, small, true);
        return LedgerFinding.of(send > 1 + SAME && tcp > send, latencies() + ". " + IS_TCP);
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

    /** READs are faster than requests that this way answers while they are small, and as fast when they are large. */
    LedgerFinding fasterWhenSmall(VerbsWay way) {
        double first = reads(way, small, false);
        double last = reads(way, large, false);
        return LedgerFinding.of(
                first > 1 + SAME && Math.abs(Math.log(last)) <= CLOSE,
                "READs per second beside " + way.title() + ": " + bySize(way, false, size -> true)
                        + (way == VerbsWay.WRITE ? "; memory that is polled is copied word by word" : ""));
    }

    private String bySize(VerbsWay way, boolean single, IntPredicate which) {
        return sizes(which)
                .mapToObj(size -> String.format(Locale.ROOT, "%.2f at %d bytes", reads(way, size, single), size))
                .collect(Collectors.joining(", "));
    }

    private IntStream sizes(IntPredicate which) {
        return cells.each(SIZE).stream().mapToInt(Integer::intValue).filter(which);
    }

    /** A request by WRITEs takes as long as a READ, there and back, for each small answer. */
    LedgerFinding echoTakesAsLongAsRead() {
        return LedgerFinding.of(
                sizes(VerbsFigures::isSmall)
                        .allMatch(size -> Math.abs(Math.log(reads(VerbsWay.WRITE, size, true))) <= CLOSE),
                "a WRITE of 8 bytes and the WRITE that answers it, beside a READ's time: "
                        + bySize(VerbsWay.WRITE, true, VerbsFigures::isSmall));
    }

    private static boolean isSmall(int size) {
        return size <= SMALL;
    }

    /** Messages by WRITEs leave TCP far behind, and READs those. */
    LedgerFinding leavesTcpBehind() {
        double messages = least(size -> reads(VerbsWay.TCP, size, false) / reads(VerbsWay.WRITE, size, false));
        double read = least(size -> reads(VerbsWay.WRITE, size, false));
        return LedgerFinding.of(
                messages >= FASTER_MESSAGES && read >= TWICE,
                String.format(
                        Locale.ROOT,
                        "up to %d bytes at least %.2f messages by WRITEs for each request over TCP, and %.2f READs for"
                                + " each message. %s; and the paper's READs win by taking half of the packets, where these"
                                + " take as many segments as a message and its answer",
                        FARM_SMALL,
                        messages,
                        read,
                        IS_TCP));
    }

    /** A READ alone takes a small part of TCP's time, and among many half of a message's. */
    LedgerFinding takesPartOfTcpsTime() {
        return LedgerFinding.of(
                least(size -> reads(VerbsWay.TCP, size, true)) >= FASTER_READ
                        && least(size -> reads(VerbsWay.WRITE, size, false)) >= TWICE,
                String.format(
                        Locale.ROOT,
                        "%s; among many a message takes %.2f times as long as a READ. %s",
                        latencies(),
                        least(size -> reads(VerbsWay.WRITE, size, false)),
                        IS_TCP));
    }

    /** Of the sizes up to which the paper says so. */
    private double least(IntToDoubleFunction ratio) {
        return sizes(size -> size <= FARM_SMALL).mapToDouble(ratio).min().orElse(Double.NaN);
    }
}
