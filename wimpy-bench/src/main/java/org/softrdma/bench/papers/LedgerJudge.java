package org.softrdma.bench.papers;

import java.util.function.BiFunction;
import java.util.function.Function;
import org.softrdma.bench.compare.CompareResults;
import org.softrdma.bench.compare.HerdClaims;
import org.softrdma.bench.compare.HotKeysClaims;
import org.softrdma.bench.compare.Judgement;
import org.softrdma.bench.compare.NodesClaims;
import org.softrdma.bench.compare.WorkersClaims;
import org.softrdma.bench.floor.VerbsWay;
import org.softrdma.bench.papers.LedgerSources.Source;

/** Who finds out whether the shape of a figure is there. Stateless. */
enum LedgerJudge {
    // ---- by rows of softrdma wimpy
    LINK_HIDES_THE_CLOCK(WimpyFigures::linkHidesTheClock),
    KERNEL_GROWS(WimpyFigures.KERNEL_GROWS),
    COPYING_GROWS(WimpyFigures.COPYING_GROWS),
    WINS_MORE_WHEN_SLOW(WimpyFigures.flatOut(WimpyFigures::winsMoreWhenSlow)),
    COSTS_LESS(WimpyFigures.COSTS_LESS),
    ONE_CORE_IS_FOUR(WimpyFigures.ONE_CORE_IS_FOUR),

    // ---- by cells of softrdma perf verbs
    READ_IS_FASTEST(VerbsFigures.judge(VerbsFigures::readIsFastest)),
    FASTER_THAN_SEND_WHEN_SMALL(VerbsFigures.judge(figures -> figures.fasterWhenSmall(VerbsWay.SEND))),
    FASTER_THAN_WRITE_WHEN_SMALL(VerbsFigures.judge(figures -> figures.fasterWhenSmall(VerbsWay.WRITE))),
    ECHO_TAKES_AS_LONG_AS_READ(VerbsFigures.judge(VerbsFigures::echoTakesAsLongAsRead)),
    LEAVES_TCP_BEHIND(VerbsFigures.judge(VerbsFigures::leavesTcpBehind)),
    TAKES_PART_OF_TCPS_TIME(VerbsFigures.judge(VerbsFigures::takesPartOfTcpsTime)),

    // ---- by cells of softrdma perf floor
    MORE_WRITES(StoreFigures.writesBesideReads("readsPerSecond", ratio -> ratio > 1, "WRITEs beside READs per second")),
    /** By CPU: the load of {@code perf floor} takes a core of its own, and is what sends. */
    CHEAPER_WRITES(StoreFigures.writesBesideReads(
            "clientCpuMicrosPerRead", ratio -> ratio < 1, "CPU of the side that sends, WRITEs beside READs")),

    // ---- by rows of softrdma farm tao
    READS_OF_TAO(FarmFigures::readsOfTao),
    UPDATES_WITH_REPLICAS(FarmFigures::updatesWithReplicas),
    READS_BESIDE_UPDATES(FarmFigures::readsBesideUpdates),

    // ---- by rows of softrdma compare
    READS_OF_PILAF(StoreFigures::readsOfPilaf),
    CONVERGE(StoreFigures.CONVERGE),
    ORDER_OF_COSTS(StoreFigures::orderOfCosts),
    LATENCY_BY_ROUND_TRIPS(StoreFigures::latency),
    READS_OF_FARM(StoreFigures.ofFarm(StoreFigures::readsOfFarm)),
    MEMORY_OF_FARM(StoreFigures.ofFarm(StoreFigures::memoryOfFarm)),

    // ---- by what a comparison says itself
    RETRIES_OF_HOT_KEYS(claim(HotKeysClaims::retries)),
    UNRELIABLE_COSTS_LESS(claim(HerdClaims::unreliable)),
    WORKERS_UNNOTICED(claim(WorkersClaims::unnoticed)),
    SLOWER_BESIDE_WORKERS(claim(WorkersClaims::slower)),
    LOCALITY(claim(NodesClaims::locality)),
    FILTER_BITS(claim(NodesClaims::filter)),
    CACHE(claim(NodesClaims::cache));

    @SuppressWarnings("ImmutableEnumChecker") // functions without state
    private final BiFunction<LedgerSources, Source, LedgerFinding> judge;

    LedgerJudge(BiFunction<LedgerSources, Source, LedgerFinding> judge) {
        this.judge = judge;
    }

    LedgerJudge(RowsJudge judge) {
        this((sources, source) ->
                sources.rows(source).map(judge::judge).orElseGet(() -> LedgerFinding.notRun(source.missing())));
    }

    private static BiFunction<LedgerSources, Source, LedgerFinding> claim(Function<CompareResults, Judgement> judge) {
        return (sources, source) -> sources.comparison(source)
                .map(results -> LedgerFinding.of(judge.apply(results)))
                .orElseGet(() -> LedgerFinding.notRun(source.missing()));
    }

    /** Judges rows of results. */
    @FunctionalInterface
    interface RowsJudge {
        LedgerFinding judge(Rows rows);
    }

    LedgerFinding judge(LedgerSources sources, Source results) {
        return judge.apply(sources, results);
    }
}
