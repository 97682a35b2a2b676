package org.softrdma.bench.wimpy;

import org.jspecify.annotations.Nullable;
import org.softrdma.bench.cpu.FunctionProfile;
import org.softrdma.bench.machine.Throttle;
import org.softrdma.bench.measurement.MedianOfRounds;
import org.softrdma.bench.study.CpuShares;
import org.softrdma.bench.study.ReportText;
import org.softrdma.bench.workload.TcpCommands;

/**
 * What was measured of one system under one load: named values of each round; NaN is what could not be measured. Filled by
 * the study.
 */
final class WimpyRow {
    static final String GETS_PER_SECOND = "getsPerSecond";
    static final String SERVER_CPU = "serverCpuMicrosPerGet";
    static final String SERVER_COMPILER = "serverCompilerMicrosPerGet";
    static final String SERVER_CORE = "serverCoreMicrosPerGet";
    static final String SERVER_USER = "serverUserMicrosPerGet";
    static final String SERVER_SYSTEM = "serverSystemMicrosPerGet";
    static final String CLIENT_CPU = "clientCpuMicrosPerGet";
    static final String P50 = "p50Micros";
    static final String P99 = "p99Micros";
    static final String P999 = "p999Micros";
    static final String ONE_SIDED = "oneSidedFraction";
    static final String SERVER_WAITED = "serverWaitedPercent";
    static final String CLIENT_WAITED = "clientWaitedPercent";

    /** CPU per GET that differs by less than this is the same, however small it is. */
    private static final double CPU_DETAIL_MICROS = 0.05;

    /** READs per GET below which a row is not about GETs by READ. */
    private static final double LEAST_ONE_SIDED = 0.95;

    private static final int MEGABITS_PER_GIGABIT = 1000;

    final MeasuredSystem system;
    final int valueLength;
    final int window;
    final int throttlePercent;
    final int serverCores;
    /** Rate of the link in Mbit/s; 0 for what is not limited. */
    final int linkMegabits;
    /** GETs per second that were to arrive; NaN if as many as could be, closed loop. */
    final double offeredPerSecond;

    final MedianOfRounds rounds = new MedianOfRounds();
    final CpuShares shares = new CpuShares();
    long errors;

    /** Of the last round that had errors, for people. */
    String faults = "";
    /** In which functions the server spends its CPU; null if nobody has looked. */
    @Nullable
    FunctionProfile profile;

    WimpyRow(MeasuredSystem system, int valueLength, int window, int throttlePercent, int serverCores) {
        this(system, valueLength, window, throttlePercent, serverCores, 0, Double.NaN);
    }

    private WimpyRow(
            MeasuredSystem system,
            int valueLength,
            int window,
            int throttlePercent,
            int serverCores,
            int linkMegabits,
            double offeredPerSecond) {
        this.system = system;
        this.valueLength = valueLength;
        this.window = window;
        this.throttlePercent = throttlePercent;
        this.serverCores = serverCores;
        this.linkMegabits = linkMegabits;
        this.offeredPerSecond = offeredPerSecond;
    }

    /** The same load at a constant rate instead of flat out. */
    WimpyRow open(double perSecond) {
        return new WimpyRow(system, valueLength, window, throttlePercent, serverCores, linkMegabits, perSecond);
    }

    /** The same load over a link of a limited rate. */
    WimpyRow over(int megabits) {
        return new WimpyRow(system, valueLength, window, throttlePercent, serverCores, megabits, offeredPerSecond);
    }

    /** What it is called among rows over several links. */
    String label() {
        return system.label() + (isOverLink() ? ", " + link() : "");
    }

    /** The rate of the link, for people: {@code 10 Gbit/s}. */
    String link() {
        return linkMegabits % MEGABITS_PER_GIGABIT == 0
                ? linkMegabits / MEGABITS_PER_GIGABIT + " Gbit/s"
                : linkMegabits + " Mbit/s";
    }

    /** True if a link limits its rate. */
    boolean isOverLink() {
        return linkMegabits > 0;
    }

    /** True if this is a row of GETs by READ, of which the server's device did not count nearly as many READs. */
    boolean isNotOneSided() {
        return median(ONE_SIDED) < LEAST_ONE_SIDED;
    }

    /** True if it is one of those whose servers are looked into by function. */
    boolean isProfiled(int widest) {
        boolean stock = system.kind() == MeasuredSystem.Kind.MEMCACHED
                && system.protocol().equals(TcpCommands.CLASSIC.getLabel());
        boolean read = system.kind() == MeasuredSystem.Kind.SOFTRDMA_READ
                && system.protocol().equals("READ arena");
        return (stock || read) && window == widest && throttlePercent == Throttle.FULL_PERCENT;
    }

    /** True if GETs arrive at a constant rate. */
    boolean isOpen() {
        return !Double.isNaN(offeredPerSecond);
    }

    /** True if both differ in the system only. */
    boolean sameCell(WimpyRow other) {
        return valueLength == other.valueLength
                && window == other.window
                && throttlePercent == other.throttlePercent
                && serverCores == other.serverCores
                && linkMegabits == other.linkMegabits
                && isOpen() == other.isOpen();
    }

    /** True if the rounds of a figure lie so far apart that its median says nothing. */
    boolean isNoisy(String name) {
        return rounds.isNoisy(name, name.equals(SERVER_CPU) ? CPU_DETAIL_MICROS : 0);
    }

    /** True if one of the two figures that the others depend on is: GETs per second, or the server's CPU. */
    boolean isNoisy() {
        return isNoisy(GETS_PER_SECOND) || isNoisy(SERVER_CPU);
    }

    /** The median for people: a dash for what was not measured, and no number if the rounds lie too far apart. */
    String text(String name, int digits) {
        return ReportText.median(median(name), isNoisy(name), digits);
    }

    /** The least and the most of the rounds, for people; a dash for what was not measured. */
    String spreadText(String name, int digits) {
        return ReportText.spread(rounds.spread(name), digits);
    }

    /** The median over the rounds; NaN if it was not measured. */
    double median(String name) {
        return rounds.median(name);
    }
}
