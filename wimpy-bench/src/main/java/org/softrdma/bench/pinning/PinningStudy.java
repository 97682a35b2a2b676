package org.softrdma.bench.pinning;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.softrdma.bench.study.ReportText;
import org.softrdma.bench.study.StudySetup;

/**
 * What lazy pinning costs and saves (Wimpy Nodes with 10GbE, section 3.2, which proposes it and leaves its evaluation out):
 * registration, first touch, GETs under a budget, and a server whose items exceed its memory.
 */
public final class PinningStudy {
    private final PinningPlan plan;
    private final StudySetup setup;

    /**
     * Makes a study.
     *
     * @param plan what to measure
     * @param setup what it needs
     */
    public PinningStudy(PinningPlan plan, StudySetup setup) {
        this.plan = plan;
        this.setup = setup;
    }

    /**
     * Measures everything, prints the table and writes the files.
     *
     * @param out directory for results.json and report.html
     * @return GETs that brought nothing or something wrong
     * @throws IOException if a file cannot be written
     */
    public long run(Path out) throws IOException {
        Map<String, String> skipped = new LinkedHashMap<>();
        String startedAt = ZonedDateTime.now(ZoneOffset.UTC)
                .format(DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm 'UTC'", Locale.ROOT));
        List<PinningRow> rows = new ArrayList<>();
        setup.progress().say("registration");
        rows.addAll(new RegistrationTimes(setup.devices(), plan, skipped).run());
        setup.progress().say("first touch");
        rows.addAll(new TouchTimes(setup.devices(), plan, skipped).run());
        setup.progress().say("GETs under a budget");
        BudgetLoads loads = new BudgetLoads(setup, plan, skipped);
        rows.addAll(loads.budgets());
        setup.progress().say("GETs of items that exceed the server's memory");
        Files.createDirectories(out);
        if (BudgetLoads.isOnDisk(out)) {
            rows.addAll(loads.confined(out.toAbsolutePath()));
        } else {
            skipped.put("GETs in confined memory", out + " is in memory: name a directory on a disk with --out");
        }
        print(rows, skipped);
        PinningReport report = new PinningReport(plan, setup.machine(), startedAt, rows, skipped);
        setup.out().println("written: " + report.writeJson(out) + ", " + report.writePage(out));
        setup.out().flush();
        return (long) rows.stream()
                .flatMap(row -> row.values().values(PinningRow.ERRORS).stream())
                .mapToDouble(Double::doubleValue)
                .sum();
    }

    private void print(List<PinningRow> rows, Map<String, String> skipped) {
        PrintWriter out = setup.out();
        for (PinningReport.Part part : PinningReport.PARTS) {
            List<PinningRow> these =
                    rows.stream().filter(row -> row.part().equals(part.name())).toList();
            if (!these.isEmpty()) {
                out.println();
                out.println(part.title());
                out.printf(Locale.ROOT, "  %-30s %-18s", "pinning", part.column());
                part.metrics().forEach(metric -> out.printf(Locale.ROOT, " %16s", metric.title()));
                out.println();
                for (PinningRow row : these) {
                    out.printf(Locale.ROOT, "  %-30s %-18s", row.system(), row.at());
                    part.metrics()
                            .forEach(metric -> out.printf(
                                    Locale.ROOT,
                                    " %16s",
                                    ReportText.number(row.values().median(metric.value()), metric.digits())));
                    out.println();
                }
            }
        }
        skipped.forEach((what, why) -> out.println("skipped: " + what + ": " + why));
    }
}
