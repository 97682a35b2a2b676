package org.softrdma.bench.wimpy;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.Collectors;
import org.softrdma.bench.measurement.MedianOfRounds;
import org.softrdma.bench.study.ReportText;
import org.softrdma.bench.study.RunWarning;
import org.softrdma.bench.study.Warmth;
import org.softrdma.bench.workload.GetLoad;
import org.softrdma.bench.workload.TcpCommands;

/** What the results say, in sentences with their numbers. */
final class WimpySummary {
    /** Within this of 1 two costs are called the same. */
    private static final double SAME = 0.05;

    private static final double BUSY_PERCENT = 5;
    /** By which a median of ratios and the quotient of medians may differ. */
    private static final double RATIO_IS_QUOTIENT = 0.1;

    /** Rows that a warning names; it counts the others. */
    private static final int NAMED = 4;

    private static final double PERCENT = 100;
    private static final int FEW_ROUNDS = 7;

    private final StudyResults results;

    WimpySummary(StudyResults results) {
        this.results = results;
    }

    /**
     * One number of the answer.
     *
     * @param what a few words above it
     * @param big the number
     * @param detail a sentence below it
     */
    record Tile(String what, String big, String detail) {}

    /** The READ rows that the answer is about: the first registration, at full speed, flat out, on one core. */
    private List<WimpyRow> reads(int window) {
        return results.cells().stream()
                .filter(cell -> cell.window == window && !cell.isOpen() && cell.serverCores == 1 && !cell.isOverLink())
                .filter(cell -> cell.throttlePercent
                        == results.plan().throttles().stream()
                                .mapToInt(Integer::intValue)
                                .max()
                                .orElseThrow())
                .flatMap(cell -> results.inCellOf(cell, MeasuredSystem.Kind.SOFTRDMA_READ).stream())
                .toList();
    }

    /** The answer on this machine. */
    String answer() {
        List<String> sentences = new ArrayList<>();
        for (int window :
                results.plan().windows().stream().sorted((a, b) -> b - a).toList()) {
            sentence(window).ifPresent(sentences::add);
        }
        if (sentences.isEmpty()) {
            return "This run could not measure the CPU of any memcached, so it shows what a GET by READ cost,"
                    + " but not whether memcached costs more.";
        }
        classic().ifPresent(sentences::add);
        ways().ifPresent(sentence -> sentences.addFirst(sentence));
        return String.join(" ", sentences);
    }

    /** What a GET of the first size costs by each way, and why. */
    private Optional<String> ways() {
        return reads(results.plan().maxWindow()).stream()
                .filter(read -> isNumber(read, WimpyRow.SERVER_CPU))
                .findFirst()
                .flatMap(read -> results.cheapestMemcached(read)
                        .filter(memcached -> isNumber(memcached, WimpyRow.SERVER_CPU))
                        .map(memcached -> ways(read, memcached)));
    }

    private static boolean isNumber(WimpyRow row, String name) {
        return Double.isFinite(row.median(name)) && !row.isNoisy(name);
    }

    private String ways(WimpyRow read, WimpyRow memcached) {
        String tcp = "A GET of " + ReportText.size(read.valueLength) + " with " + read.window
                + " outstanding cost the server " + micros(memcached) + " of CPU by memcached's "
                + memcached.system.protocol() + " and " + micros(read)
                + " by one-sided READ over TCP, because a software RNIC receives and answers each READ with the same"
                + " kernel's TCP";
        return results.inCellOf(read, MeasuredSystem.Kind.SOFTRDMA_SAME_HOST)
                .map(same -> tcp + "; it cost " + micros(same)
                        + " by READ on the same host, because the client's own thread copies the item.")
                .orElse(tcp + ".");
    }

    private static String micros(WimpyRow row) {
        return row.text(WimpyRow.SERVER_CPU, 2) + (row.isNoisy(WimpyRow.SERVER_CPU) ? "" : " \u00b5s");
    }

    private Optional<String> sentence(int window) {
        List<String> parts = new ArrayList<>();
        for (WimpyRow read : reads(window)) {
            double ratio = results.ratio(read);
            if (!Double.isNaN(ratio)) {
                String at = " at " + ReportText.size(read.valueLength) + " (";
                if (results.isRatioNoisy(read)) {
                    parts.add("an unclear amount of CPU" + at + "too noisy: rounds " + range(read) + ")");
                    continue;
                }
                parts.add(
                        verdict(ratio, results.roundsAgree(read)) + at + format(ratio) + "\u00d7, rounds " + range(read)
                                + floor(read).map(text -> ", C floor " + text).orElse("") + ")");
            }
        }
        return parts.isEmpty()
                ? Optional.empty()
                : Optional.of("With " + window + (window == 1 ? " GET" : " GETs")
                        + " outstanding per connection, a GET by one-sided READ cost the server, compared"
                        + " with memcached's cheapest form, " + String.join("; ", parts) + ".");
    }

    /** The ratios of the rounds. */
    private String range(WimpyRow read) {
        return ReportText.spread(MedianOfRounds.spread(results.ratios(read)), 2);
    }

    private static String verdict(double ratio, boolean roundsAgree) {
        if (Math.abs(ratio - 1) <= SAME) {
            return "about the same CPU";
        }
        return !roundsAgree ? "not clearly more or less CPU" : ratio < 1 ? "less CPU" : "more CPU";
    }

    private Optional<String> floor(WimpyRow row) {
        return results.inCellOf(row, MeasuredSystem.Kind.FLOOR)
                .map(results::ratio)
                .filter(Double::isFinite)
                .map(ratio -> format(ratio) + "\u00d7");
    }

    /** Beside classic get, which is what the paper's clients used. */
    private Optional<String> classic() {
        List<Double> ratios = new ArrayList<>();
        for (int window : results.plan().windows()) {
            for (WimpyRow read : reads(window)) {
                results.cell(read).stream()
                        .filter(row -> row.system.kind() == MeasuredSystem.Kind.MEMCACHED
                                && row.system.protocol().equals(TcpCommands.CLASSIC.getLabel()))
                        .filter(row -> !row.isNoisy(WimpyRow.SERVER_CPU) && !read.isNoisy(WimpyRow.SERVER_CPU))
                        .mapToDouble(row -> StudyResults.ratio(read, row))
                        .filter(Double::isFinite)
                        .forEach(ratios::add);
            }
        }
        OptionalDouble least = ratios.stream().mapToDouble(Double::doubleValue).min();
        OptionalDouble most = ratios.stream().mapToDouble(Double::doubleValue).max();
        return least.isEmpty() || most.isEmpty()
                ? Optional.empty()
                : Optional.of("Compared with memcached's classic get, which the paper used, it cost "
                        + format(least.getAsDouble()) + " to " + format(most.getAsDouble()) + " times as much CPU.");
    }

    /** The numbers above the text: one for each value size, with the widest window. */
    List<Tile> tiles() {
        return reads(results.plan().maxWindow()).stream().map(this::tile).toList();
    }

    private Tile tile(WimpyRow read) {
        String what = ReportText.size(read.valueLength) + ", " + read.window + " outstanding per connection";
        double cpu = read.median(WimpyRow.SERVER_CPU);
        Optional<WimpyRow> memcached = results.cheapestMemcached(read);
        if (Double.isNaN(cpu)) {
            double rate = read.median(WimpyRow.GETS_PER_SECOND);
            return new Tile(what, ReportText.number(rate, 0) + " GETs/s", "Server CPU unknown.");
        }
        String micros = micros(read) + " of server CPU per GET by READ";
        if (memcached.isEmpty()) {
            return new Tile(what, micros(read), micros + ".");
        }
        if (results.isRatioNoisy(read)) {
            return new Tile(
                    what,
                    ReportText.TOO_NOISY,
                    "The rounds' ratios to memcached's CPU, " + range(read) + ", lie too far apart for a number.");
        }
        return new Tile(
                what,
                format(results.ratio(read)) + "\u00d7",
                "of memcached's CPU (median of " + results.ratios(read).size() + " rounds' ratios, " + range(read)
                        + "): " + micros + ", " + micros(memcached.get())
                        + " by memcached's " + memcached.get().system.protocol()
                        + floor(read).map(text -> "; the C floor is " + text).orElse("") + ".");
    }

    /** How it was measured. */
    String how() {
        WimpyPlan plan = results.plan();
        String place = plan.cores().servers().isEmpty()
                ? "Server and load are separate processes that shared one core"
                : "Each server is a process of its own, on cores that the load does not use; one process on"
                        + " another core loads them, one at a time";
        String servers = results.network().equals("loopback")
                ? "All servers run on this machine and are reached over the loopback address"
                : "The servers run elsewhere (" + results.network() + ")";
        return servers + ". " + place + ": " + plan.pairs() + " pairs of each size are stored, then "
                + plan.clients() + " connections GET random keys as fast as they can, with "
                + plan.windows().stream().map(String::valueOf).collect(Collectors.joining(" or "))
                + " GETs outstanding on each. The length of every value is checked, and one value in "
                + GetLoad.SAMPLE_INTERVAL
                + " is compared byte by byte; a miss counts as an error. This run had " + results.errors()
                + " errors. The client that READs is the library's own, with its defaults: it reports in"
                + " batches what it has read, so that the server's LRU and statistics stay true; its rows"
                + " include the cost of these touch reports. The systems take turns in each of "
                + plan.timing().rounds() + " rounds of " + plan.timing().millis()
                + " ms; figures are medians over the rounds, ratios are medians of the ratios within a round. Before,"
                + " each row is loaded until its server spends no more than a tenth of its CPU, or a hundredth of the"
                + " time, on compiling bytecode, but no longer than "
                + Warmth.MOST_PASSES + " passes. The server's CPU is that of all its threads but the compiler's. A"
                + " block with a row whose rounds differ by more than a quarter, but for the"
                + " farthest of four, gets up to two more rounds; a row that still does so says"
                + " \"too noisy\". memcached is measured in several forms, and the cheapest is"
                + " the one to compare with: meta get (mg), classic get, one get for as many keys"
                + " as are outstanding"
                + (plan.extras().contains(WimpyPlan.Extra.BINARY) ? ", and the binary protocol's getk." : ".")
                + (plan.extras().contains(WimpyPlan.Extra.TLS)
                        ? " Rows in TLS are compared with memcached's in TLS."
                        : "")
                + " The C floor is"
                + " a minimal C program that answers READs of the same sizes and has no keys: it shows what"
                + " TCP itself costs a server."
                + results.slowing()
                        .map(slowing -> " For slower speeds, " + slowing.description() + ".")
                        .orElse("")
                + (results.rows().stream().anyMatch(WimpyRow::isOverLink)
                        ? " Blocks with a rate, such as 10 Gbit/s: the servers run in a network namespace of their own,"
                                + " and either end of the virtual link to it sends through a token bucket filter of"
                                + " that rate, headers included."
                        : "");
    }

    /** What cannot be concluded. */
    String limits() {
        List<String> parts = new ArrayList<>();
        if (results.network().equals("loopback")) {
            parts.add("No network card is involved: loopback has no card interrupts and no loss, so every"
                    + " system needs less CPU per GET than over Ethernet.");
        }
        parts.add("GETs per second depend on the load's core as much as on the server's: compare CPU per GET.");
        parts.add("A software RNIC runs on threads of the server's process: READ takes the store out of a"
                + " GET, not the server's CPU.");
        parts.add("All GETs are hits whose location the clients already know. SETs and misses are not measured.");
        parts.add("Compare ratios within this run only: figures from other machines or other runs are not"
                + " comparable with these.");
        if (results.plan().timing().rounds() < FEW_ROUNDS) {
            parts.add("With " + results.plan().timing().rounds()
                    + " rounds, differences of a few percent mean nothing; --full runs more.");
        }
        return String.join(" ", parts);
    }

    /** What a reader must know, one warning of a kind. */
    List<RunWarning> warnings() {
        List<RunWarning> warnings = new ArrayList<>();
        if (results.errors() > 0) {
            warnings.add(new RunWarning(
                    RunWarning.Kind.ERRORS,
                    results.errors() + " GETs returned nothing or a wrong value: do not use these figures."
                            + results.faults()));
        }
        notOneSided().ifPresent(warnings::add);
        notWarm().ifPresent(warnings::add);
        notQuiet().ifPresent(warnings::add);
        tooNoisy().ifPresent(warnings::add);
        noQuotients().ifPresent(warnings::add);
        return warnings;
    }

    private Optional<RunWarning> notOneSided() {
        List<String> rows = results.notOneSided().stream()
                .map(row -> name(row) + " (" + format(row.median(WimpyRow.ONE_SIDED)) + " READs per GET)")
                .toList();
        return warning(
                RunWarning.Kind.NOT_AS_COUNTED,
                rows,
                "The server's device counted less than a READ per GET, so these rows are not what a GET by READ"
                        + " costs: ");
    }

    private Optional<RunWarning> notWarm() {
        List<String> rows = results.rows().stream()
                .filter(row -> !row.shares.isWarm())
                .map(row ->
                        name(row) + String.format(Locale.ROOT, " (%.0f %% of its CPU)", row.shares.compilingPercent()))
                .toList();
        return warning(
                RunWarning.Kind.NOT_WARM,
                rows,
                "Servers were not warm yet in " + rows.size() + " of "
                        + results.rows().size() + " rows: they compiled bytecode: ");
    }

    private Optional<RunWarning> notQuiet() {
        double waited = results.waitedPercent();
        return waited <= BUSY_PERCENT || results.plan().cores().servers().isEmpty()
                ? Optional.empty()
                : Optional.of(new RunWarning(
                        RunWarning.Kind.NOT_QUIET,
                        String.format(
                                Locale.ROOT,
                                "The machine was not quiet: in half the rows, threads waited more than %.0f %% of the"
                                        + " time for a core that other work had. Run it again when nothing else runs.",
                                Math.min(waited, PERCENT))));
    }

    private Optional<RunWarning> tooNoisy() {
        List<String> rows = results.rows().stream()
                .filter(WimpyRow::isNoisy)
                .map(row -> name(row)
                        + (row.isNoisy(WimpyRow.SERVER_CPU)
                                ? " (" + row.spreadText(WimpyRow.SERVER_CPU, 2) + " \u00b5s)"
                                : " (" + row.spreadText(WimpyRow.GETS_PER_SECOND, 0) + " GETs/s)"))
                .toList();
        return warning(
                RunWarning.Kind.TOO_NOISY,
                rows,
                "Rounds lie too far apart for a number in " + rows.size() + " of "
                        + results.rows().size() + " rows: ");
    }

    private Optional<RunWarning> noQuotients() {
        List<String> rows = results.rows().stream()
                .filter(row -> !results.isRatioNoisy(row))
                .filter(row -> Math.abs(results.quotient(row) - results.ratio(row)) > StudyResults.RATIO_DETAIL)
                .filter(row -> Math.abs(results.quotient(row) / results.ratio(row) - 1) > RATIO_IS_QUOTIENT)
                .map(row ->
                        name(row) + " (" + format(results.ratio(row)) + " and " + format(results.quotient(row)) + ")")
                .toList();
        return warning(
                RunWarning.Kind.RATIO_IS_NO_QUOTIENT,
                rows,
                "The median of the rounds' ratios differs by more than 10 % from the quotient of the two medians,"
                        + " because the machine's pace changed between rounds: ");
    }

    private static Optional<RunWarning> warning(RunWarning.Kind kind, List<String> rows, String what) {
        String more = rows.size() > NAMED ? "; and " + (rows.size() - NAMED) + " more" : "";
        return rows.isEmpty()
                ? Optional.empty()
                : Optional.of(new RunWarning(
                        kind, what + rows.stream().limit(NAMED).collect(Collectors.joining("; ")) + more + "."));
    }

    private String name(WimpyRow row) {
        return row.system.label() + ", " + results.title(row);
    }

    private static String format(double ratio) {
        return ReportText.number(ratio, 2);
    }
}
