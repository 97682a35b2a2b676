package org.softrdma.bench.wimpy;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.softrdma.bench.machine.MachineDescription;
import org.softrdma.bench.machine.Throttle;
import org.softrdma.bench.measurement.MedianOfRounds;
import org.softrdma.bench.study.ReportText;

/**
 * Everything a study found, and how rows compare.
 *
 * @param plan what was measured
 * @param startedAt when, for people
 * @param machine on what
 * @param network what GETs went over
 * @param rows the results
 * @param skipped what was left out, with the reason
 * @param slowing how the server was slowed down; empty if it was not
 */
record StudyResults(
        WimpyPlan plan,
        String startedAt,
        MachineDescription machine,
        String network,
        List<WimpyRow> rows,
        Map<String, String> skipped,
        Optional<Slowing> slowing) {
    /** Ratios that differ by less than this are the same, however small they are. */
    static final double RATIO_DETAIL = 0.05;

    /** Copies the collections. */
    StudyResults {
        rows = List.copyOf(rows);
        skipped = new LinkedHashMap<>(skipped);
    }

    /**
     * How the server was slowed down.
     *
     * @param method its name
     * @param description what it does, one sentence
     */
    record Slowing(String method, String description) {
        static Slowing of(Throttle throttle) {
            return new Slowing(throttle.method(), throttle.description());
        }
    }

    /** GETs that brought nothing or something wrong. */
    long errors() {
        return rows.stream().mapToLong(row -> row.errors).sum();
    }

    /** What they brought, as far as that is known: sentences that follow others. */
    String faults() {
        return rows.stream()
                .filter(row -> !row.faults.isEmpty())
                .map(row ->
                        " " + row.system.label() + ", " + title(row) + ", in its last bad round: " + row.faults + ".")
                .collect(Collectors.joining());
    }

    /** Rows of GETs by READ that were something else for a good part. */
    List<WimpyRow> notOneSided() {
        return rows.stream().filter(WimpyRow::isNotOneSided).toList();
    }

    /**
     * The row of memcached that cost the server least in the same cell, among those in TLS for a row in TLS; empty without
     * memcached or without its CPU.
     */
    Optional<WimpyRow> cheapestMemcached(WimpyRow row) {
        return rows.stream()
                .filter(candidate ->
                        candidate.system.kind() == row.system.kind().yardstick())
                .filter(row::sameCell)
                .filter(candidate -> !Double.isNaN(candidate.median(WimpyRow.SERVER_CPU)))
                .min(Comparator.comparingDouble(candidate -> candidate.median(WimpyRow.SERVER_CPU)));
    }

    /** Server CPU per GET beside memcached's cheapest form in the same cell: the median over the rounds; NaN if unknown. */
    double ratio(WimpyRow row) {
        return cheapestMemcached(row).map(baseline -> ratio(row, baseline)).orElse(Double.NaN);
    }

    /** Server CPU per GET beside another row's: the median of the ratios within each round. */
    static double ratio(WimpyRow row, WimpyRow other) {
        return row.rounds.medianRatio(WimpyRow.SERVER_CPU, other.rounds);
    }

    /** The ratios within each round to memcached's cheapest form in the same cell; none if unknown. */
    List<Double> ratios(WimpyRow row) {
        return cheapestMemcached(row)
                .map(baseline -> row.rounds.ratios(WimpyRow.SERVER_CPU, baseline.rounds))
                .orElse(List.of());
    }

    /**
     * True if the ratios of the rounds lie so far apart that their median says nothing. They may agree though the machine's pace
     * changed between rounds.
     */
    boolean isRatioNoisy(WimpyRow row) {
        return MedianOfRounds.isNoisy(ratios(row), RATIO_DETAIL);
    }

    /** The ratio to memcached's cheapest form, for people. */
    String ratioText(WimpyRow row) {
        return ReportText.median(ratio(row), isRatioNoisy(row), 2);
    }

    /** The quotient of the two medians; NaN if unknown. */
    double quotient(WimpyRow row) {
        return cheapestMemcached(row)
                .map(baseline -> row.median(WimpyRow.SERVER_CPU) / baseline.median(WimpyRow.SERVER_CPU))
                .orElse(Double.NaN);
    }

    /** False if the rounds do not agree on whether a row cost the server more or less than memcached's cheapest form. */
    boolean roundsAgree(WimpyRow row) {
        List<Double> ratios = ratios(row);
        return ratios.stream().allMatch(ratio -> ratio < 1) || ratios.stream().allMatch(ratio -> ratio > 1);
    }

    /**
     * Server CPU per GET of a row of this build beside the other build's: the median of the ratios within each round; empty for
     * other rows.
     */
    Optional<Double> ratioToOtherBuild(WimpyRow row) {
        String protocol = row.system.protocol();
        if (!protocol.endsWith(MeasuredSystem.THIS_BUILD)) {
            return Optional.empty();
        }
        String other = protocol.replace(MeasuredSystem.THIS_BUILD, MeasuredSystem.OTHER_BUILD);
        return cell(row).stream()
                .filter(candidate -> candidate.system.protocol().equals(other))
                .findFirst()
                .map(candidate -> ratio(row, candidate));
    }

    /** The rows that differ from this one in the system only, itself included, in the order of the systems. */
    List<WimpyRow> cell(WimpyRow row) {
        return rows.stream().filter(row::sameCell).toList();
    }

    /** One row of each cell, in the order in which they were measured. */
    List<WimpyRow> cells() {
        return rows.stream()
                .filter(row -> rows.stream().filter(row::sameCell).findFirst().orElseThrow() == row)
                .toList();
    }

    /** The row of one kind of system in the cell of another; the first if there are several. */
    Optional<WimpyRow> inCellOf(WimpyRow row, MeasuredSystem.Kind kind) {
        return cell(row).stream()
                .filter(candidate -> candidate.system.kind() == kind)
                .findFirst();
    }

    /** What the GETs of a row went over, for results: {@code loopback}, {@code link of 10 Gbit/s}. */
    String network(WimpyRow row) {
        return row.isOverLink() ? "link of " + row.link() : network;
    }

    /** How a cell was throttled, for people and results: {@code none}, {@code quota 50 %}. */
    String throttle(WimpyRow row) {
        return row.throttlePercent == Throttle.FULL_PERCENT
                ? "none"
                : slowing.map(Slowing::method).orElse("unknown") + " " + row.throttlePercent + " %";
    }

    /** What a cell is, for people: {@code 10 KiB, 16 outstanding}. */
    String title(WimpyRow row) {
        StringBuilder title = new StringBuilder(ReportText.size(row.valueLength))
                .append(", ")
                .append(row.window)
                .append(" outstanding");
        if (row.isOpen()) {
            title.append(", half rate");
        }
        if (row.throttlePercent != Throttle.FULL_PERCENT) {
            title.append(", ").append(throttle(row));
        }
        if (row.serverCores > 1) {
            title.append(", ").append(row.serverCores).append(" cores");
        }
        if (row.isOverLink()) {
            title.append(", ").append(row.link());
        }
        return title.toString();
    }

    /**
     * How long threads of load or server waited for a core, in percent of the time: the median over the rows. In single rows a
     * server may wait for the kernel's own threads, which work for it: memcached does at each multi-key get of 100 KiB.
     */
    double waitedPercent() {
        double[] waited = rows.stream()
                .filter(row -> row.throttlePercent == Throttle.FULL_PERCENT)
                .mapToDouble(row -> Math.max(
                        orZero(row.median(WimpyRow.SERVER_WAITED)), orZero(row.median(WimpyRow.CLIENT_WAITED))))
                .sorted()
                .toArray();
        return waited.length == 0 ? 0 : waited[waited.length / 2];
    }

    private static double orZero(double value) {
        return Double.isNaN(value) ? 0 : value;
    }
}
