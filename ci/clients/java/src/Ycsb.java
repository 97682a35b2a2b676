import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * YCSB's core workloads A to F through {@link YcsbDatabase}, each a call of this script: it passes if YCSB ends with 0 and
 * every operation returned OK. Arguments: host, port. memcached has no scan, so E fails everywhere.
 */
final class Ycsb {
    private static final int RECORDS = 2000;
    private static final int OPERATIONS = 5000;
    private static final int THREADS = 4;

    /** The proportions of YCSB's own workload files. */
    private static final Map<String, String> WORKLOADS = Map.of(
            "A", "readproportion=0.5 updateproportion=0.5 scanproportion=0 insertproportion=0 requestdistribution=zipfian",
            "B", "readproportion=0.95 updateproportion=0.05 scanproportion=0 insertproportion=0 requestdistribution=zipfian",
            "C", "readproportion=1 updateproportion=0 scanproportion=0 insertproportion=0 requestdistribution=zipfian",
            "D", "readproportion=0.95 updateproportion=0 scanproportion=0 insertproportion=0.05 requestdistribution=latest",
            "E", "readproportion=0 updateproportion=0 scanproportion=0.95 insertproportion=0.05 requestdistribution=zipfian",
            "F",
            "readproportion=0.5 updateproportion=0 scanproportion=0 insertproportion=0 readmodifywriteproportion=0.5"
                    + " requestdistribution=zipfian");

    private Ycsb() {}

    public static void main(String[] arguments) throws Exception {
        Tap tap = new Tap();
        String server = arguments[0] + ":" + arguments[1];
        tap.check("load", () -> ycsb("-load", server, "C"));
        for (String workload : WORKLOADS.keySet().stream().sorted().toList()) {
            tap.check("workload " + workload, () -> ycsb("-t", server, workload));
        }
        tap.done();
    }

    private static boolean ycsb(String phase, String server, String workload) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                System.getProperty("java.home") + File.separator + "bin" + File.separator + "java",
                "-XX:TieredStopAtLevel=1",
                "-Dnet.spy.log.LoggerImpl=net.spy.memcached.compat.log.SLF4JLogger",
                "-cp",
                System.getProperty("java.class.path"),
                "site.ycsb.Client",
                phase,
                "-db",
                YcsbDatabase.class.getName(),
                "-threads",
                Integer.toString(THREADS)));
        String properties = "workload=site.ycsb.workloads.CoreWorkload dataintegrity=true fieldcount=1 fieldlength=1000 recordcount=" + RECORDS
                + " operationcount=" + OPERATIONS + " " + YcsbDatabase.SERVER + "=" + server + " " + WORKLOADS.get(workload);
        for (String property : properties.split(" ")) {
            command.addAll(List.of("-p", property));
        }
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        int code = process.waitFor();
        List<String> wrong = said.lines()
                .filter(line -> line.matches("\\[.*\\], Return=.*") && !line.contains("Return=OK"))
                .toList();
        if (code != 0 || !wrong.isEmpty() || !said.contains("Return=OK")) {
            throw new IOException("exit code " + code + ", " + wrong);
        }
        return true;
    }
}
