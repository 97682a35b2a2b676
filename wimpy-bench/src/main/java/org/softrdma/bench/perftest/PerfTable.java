package org.softrdma.bench.perftest;

import java.io.PrintWriter;
import java.util.Locale;

/** Prints results in the columns of perftest, so that scripts which read those can read these. */
public final class PerfTable {
    static final String LINE =
            "---------------------------------------------------------------------------------------";
    static final String LATENCY_HEADER =
            " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   "
                    + "99% percentile[usec]   99.9% percentile[usec] ";
    static final String DURATION_HEADER = " #bytes        #iterations       t_avg[usec]    tps average";
    static final String BANDWIDTH_HEADER =
            " #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]";
    static final String GBITS_HEADER =
            " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]";

    private final PrintWriter out;
    private final PerfOptions options;
    private final boolean gbits;
    private final boolean histogram;
    private final boolean unsorted;

    /**
     * A table.
     *
     * @param out where it goes
     * @param options the test
     * @param gbits bandwidth in Gb/sec instead of MiB/sec
     * @param histogram every latency too, shortest first
     * @param unsorted every latency too, in the order measured
     */
    public PerfTable(PrintWriter out, PerfOptions options, boolean gbits, boolean histogram, boolean unsorted) {
        this.out = out;
        this.options = options;
        this.gbits = gbits;
        this.histogram = histogram;
        this.unsorted = unsorted;
    }

    boolean gbits() {
        return gbits;
    }

    void header(String device, String transport, String wire, int reads) {
        out.println(LINE);
        out.println("                    " + options.title() + (options.bidirectional() ? ", both directions" : ""));
        out.println(" Device          : " + device);
        out.println(" Number of qps   : " + options.queuePairs() + "\t\tTransport type : " + transport);
        if (options.initiators() > 1) {
            out.println(" Initiators      : " + options.initiators());
        }
        out.println(" Connection type : RC\t\tUsing SRQ      : OFF");
        out.println(" TX depth        : " + (options.test().isLatency() ? 1 : options.txDepth()));
        if (!options.test().isLatency()) {
            out.println(" CQ Moderation   : " + options.completionModeration());
        }
        out.println(" Outstand reads  : " + reads + "\t\tMax inline data : " + options.inline() + "[B]");
        out.println(" Completions     : " + (options.events() ? "events" : "polling"));
        out.println(" Warm-up         : " + options.warmUpMillis()
                + " ms before the first size, a tenth before each other");
        out.println(" Wire            : " + wire);
        out.println(LINE);
        out.println(columns());
        out.flush();
    }

    private String columns() {
        if (options.test().isLatency()) {
            return options.seconds() > 0 ? DURATION_HEADER : LATENCY_HEADER;
        }
        return gbits ? GBITS_HEADER : BANDWIDTH_HEADER;
    }

    void row(PerfRow row) {
        out.println(format(row));
        out.println(row.server().describe());
        out.flush();
    }

    public String format(PerfRow row) {
        if (!options.test().isLatency()) {
            return String.format(
                    Locale.ROOT,
                    " %-7d    %-10d       %-7.2f            %-7.2f\t\t   %-7.6f",
                    row.sizeBytes(),
                    row.iterations(),
                    row.value("BW_peak"),
                    row.value("BW_average"),
                    row.value("MsgRate"));
        }
        if (options.seconds() > 0) {
            return String.format(
                    Locale.ROOT,
                    " %-7d       %d            %-7.2f        %-7.2f",
                    row.sizeBytes(),
                    row.iterations(),
                    row.value("t_avg"),
                    row.value("tps"));
        }
        return String.format(
                Locale.ROOT,
                " %-7d %d          %-7.2f        %-7.2f      %-7.2f  \t       %-7.2f     \t%-7.2f\t\t%-7.2f \t\t%-7.2f",
                row.sizeBytes(),
                row.iterations(),
                row.value("t_min"),
                row.value("t_max"),
                row.value("t_typical"),
                row.value("t_avg"),
                row.value("t_stdev"),
                row.value("percent_99"),
                row.value("percent_99.9"));
    }

    void samples(LatencySamples samples) {
        if (unsorted) {
            list(samples.unsortedMicros());
        }
        if (histogram) {
            list(samples.sortedMicros());
        }
    }

    private void list(double[] micros) {
        out.println("#, usec");
        for (int i = 0; i < micros.length; i++) {
            out.println(String.format(Locale.ROOT, "%d, %g", i + 1, micros[i]));
        }
    }

    public void end() {
        out.println(LINE);
        out.flush();
    }
}
