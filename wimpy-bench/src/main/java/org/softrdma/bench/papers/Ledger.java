package org.softrdma.bench.papers;

import java.util.List;
import java.util.stream.Stream;
import org.softrdma.bench.compare.NodesClaims;
import org.softrdma.bench.compare.WorkersClaims;
import org.softrdma.bench.floor.VerbsWay;

/**
 * Every figure and table of the papers that this project reproduces, in their order, judged by code. What no study of
 * this program shows says so. Stateless.
 */
public final class Ledger {
    private static final List<LedgerEntry> NESSIE = List.of(
            VerbsFigures.entry(
                    "N-Fig1",
                    "READs, and WRITEs that WRITEs answer, per second, by size",
                    "READ is faster when small, the same when large",
                    figures -> figures.fasterWhenSmall(VerbsWay.WRITE)),
            LedgerEntry.judged(
                    "N-Fig2", "CPU workers on the server", "clients that READ do not notice", WorkersClaims::unnoticed),
            LedgerEntry.judged(
                    "N-Fig7, N-Fig8", "Nessie beside NessieSD with CPU workers", "Nessie wins", WorkersClaims::slower),
            LedgerEntry.counted(
                    "N-Fig9",
                    "locality",
                    "the more pairs nearby, the fewer entries of other nodes (the paper: 1.8 times as fast with 80 %)",
                    NodesClaims::locality),
            LedgerEntry.counted("N-Fig10", "filter bits", "7 spare as many READs as 11", NodesClaims::filter),
            LedgerEntry.counted(
                    "N-Fig11",
                    "a cache of 1 % of the pairs, Zipf's law",
                    "it helps while PUTs are few",
                    NodesClaims::cache));

    private static final List<LedgerEntry> FARM = List.of(
            VerbsFigures.entry(
                    "F-Fig2",
                    "messages by WRITEs, READs and TCP, per second",
                    "messages are 9 to 11 times as fast as TCP, READs twice as fast again",
                    VerbsFigures::leavesTcpBehind),
            VerbsFigures.entry(
                    "F-Fig3",
                    "latency of messages by WRITEs, READs and TCP",
                    "a READ takes a twelfth of TCP's time alone, half of a message's among many",
                    VerbsFigures::takesPartOfTcpsTime),
            LedgerEntry.modelOnly(
                    "F-Fig4, F-Fig5",
                    "page tables and queue pairs in a card's cache",
                    "fewer than a card caches, or it is slow",
                    "a software RNIC has no such cache"));

    private static final List<LedgerEntry> FARM_LATER = List.of(
            LedgerEntry.notRun("F-Fig12, F-Fig13", "scaling, multi-get", "linear", "compare has one server"),
            LedgerEntry.notRun(
                    "F-Fig14, F-Fig15", "updates", "5 % cost little", "there are no transactions and no logs yet"));

    private Ledger() {}

    /** All rows. */
    public static List<LedgerRow> judge(LedgerSources sources) {
        return Stream.of(WimpyEntries.ALL, PilafEntries.ALL, HerdEntries.ALL, NESSIE, FARM, FarmEntries.ALL, FARM_LATER)
                .flatMap(List::stream)
                .map(entry -> entry.judged(sources))
                .toList();
    }
}
