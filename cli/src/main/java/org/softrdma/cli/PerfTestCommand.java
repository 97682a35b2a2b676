package org.softrdma.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.softrdma.bench.cpu.CoreClock;
import org.softrdma.bench.cpu.MachineDescription;
import org.softrdma.bench.cpu.Pinning;
import org.softrdma.bench.perf.ByteSize;
import org.softrdma.bench.perf.PerfClient;
import org.softrdma.bench.perf.PerfException;
import org.softrdma.bench.perf.PerfOptions;
import org.softrdma.bench.perf.PerfRow;
import org.softrdma.bench.perf.PerfServer;
import org.softrdma.bench.perf.PerfTable;
import org.softrdma.bench.perf.PerfTest;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.device.VerbsDevice;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code softrdma perf read-lat} and its five siblings: the server without HOST, the client with it. */
abstract class PerfTestCommand implements Callable<Integer> {
    private static final int DEFAULT_PORT = 18_515;
    private static final int LAST_PORT = 65_535;
    private static final String DEFAULT_LATENCY_SIZE = "2";
    private static final String DEFAULT_BANDWIDTH_SIZE = "65536";
    private static final long DEFAULT_LATENCY_ITERATIONS = 1000;
    private static final long DEFAULT_BANDWIDTH_ITERATIONS = 5000;
    private static final int DEFAULT_MODERATION = 100;

    private final PerfTest test;

    @Spec
    CommandSpec spec = CommandSpec.create();

    @Mixin
    private ProviderMixin provider = new ProviderMixin();

    @Parameters(arity = "0..1", paramLabel = "HOST", description = "The server; without it, this is the server.")
    private @Nullable String host;

    @Option(
            names = {"-p", "--port"},
            paramLabel = "N",
            defaultValue = "" + DEFAULT_PORT,
            description = "Port of the server (${DEFAULT-VALUE}).")
    private int port;

    @Option(
            names = {"-s", "--size"},
            paramLabel = "SIZE",
            description = "Message size, with suffix K, M or G (2 for latency, 65536 for bandwidth).")
    private @Nullable String size;

    @Option(
            names = {"-a", "--all"},
            description = "All sizes from 2 to 2^23.")
    private boolean all;

    @Option(
            names = {"-n", "--iters"},
            paramLabel = "N",
            description = "Operations per queue pair (1000 for latency, 5000 for bandwidth).")
    private @Nullable Long iterations;

    @Option(
            names = {"-D", "--duration"},
            paramLabel = "SECONDS",
            defaultValue = "0",
            description = "Run each size so long, instead of -n.")
    private int seconds;

    @Option(
            names = {"-q", "--qp"},
            paramLabel = "N",
            defaultValue = "1",
            description = "Queue pairs (bandwidth only).")
    private int queuePairs;

    @Option(
            names = {"-t", "--tx-depth"},
            paramLabel = "N",
            defaultValue = "128",
            description = "Operations posted at a time per queue pair (${DEFAULT-VALUE}).")
    private int txDepth;

    @Option(
            names = {"-o", "--outs"},
            paramLabel = "N",
            defaultValue = "0",
            description = "READs in flight per queue pair (as many as posted, within the device's limit).")
    private int outstandingReads;

    @Option(
            names = {"-I", "--inline_size"},
            paramLabel = "BYTES",
            defaultValue = "0",
            description = "Send messages up to this size inline.")
    private int inline;

    @Option(
            names = {"-e", "--events"},
            description = "Wait for events instead of polling.")
    private boolean events;

    @Option(
            names = {"-Q", "--cq-mod"},
            paramLabel = "N",
            description = "Ask for a completion every so many operations (100, at most -t; bandwidth only).")
    private @Nullable Integer moderation;

    @Option(
            names = {"-b", "--bidirectional"},
            description = "Both directions at a time (read-bw and write-bw).")
    private boolean bidirectional;

    @Option(
            names = {"-H", "--report-histogram"},
            description = "Print every latency, shortest first.")
    private boolean histogram;

    @Option(
            names = {"-U", "--report-unsorted"},
            description = "Print every latency in the order measured.")
    private boolean unsorted;

    @Option(
            names = {"--report_gbits", "--report-gbits"},
            description = "Bandwidth in Gb/sec instead of MiB/sec.")
    private boolean gbits;

    @Option(
            names = "--json",
            paramLabel = "FILE",
            description = "Also write the results and the device's counters there; a server writes its counters.")
    private @Nullable Path json;

    @Option(
            names = "--warm-up",
            paramLabel = "MILLIS",
            defaultValue = "2000",
            description = "Time before the first size that is not counted, a tenth of it before each other "
                    + "(${DEFAULT-VALUE}; a JIT needs it).")
    private int warmUpMillis;

    @Option(
            names = "--progress",
            paramLabel = "engine|manual",
            description = "Who drives a software device: threads of its own, or the caller "
                    + "(engine for the server, manual for the client).")
    private @Nullable PerfProgress progress;

    @Option(
            names = "--cpu",
            paramLabel = "N",
            defaultValue = "-1",
            description = "Pin this process to a core; a server then also reports how long that core was not idle.")
    private int cpu;

    @Option(
            names = {"--run-infinitely", "--run_infinitely"},
            description = "Server: serve one client after the other.")
    private boolean again;

    PerfTestCommand(PerfTest test) {
        this.test = test;
    }

    @Override
    public Integer call() {
        if (port < 1 || port > LAST_PORT) {
            throw new ParameterException(spec.commandLine(), "-p " + port + ": expected a port from 1 to " + LAST_PORT);
        }
        if (all && size != null) {
            throw new ParameterException(spec.commandLine(), "-a and -s: expected one of them");
        }
        if (cpu >= 0 && !Pinning.exists(cpu)) {
            throw new ParameterException(spec.commandLine(), "--cpu " + cpu + ": this machine has no such core");
        }
        if (host == null && again && json != null) {
            throw new ParameterException(
                    spec.commandLine(), "--json: a server that runs for ever writes none, leave out --run-infinitely");
        }
        PerfOptions options = options();
        Optional<String> notPinned = Pinning.detect().pinThisProcess(cpu);
        notPinned.ifPresent(spec.commandLine().getErr()::println);
        try {
            if (host == null) {
                serve(cpu >= 0 && notPinned.isEmpty() ? new CoreClock(List.of(cpu)) : null);
            } else {
                measure(options, new InetSocketAddress(host, port));
            }
            return Main.EXIT_OK;
        } catch (PerfException | VerbsException e) {
            return PerfSupport.failed(spec, e);
        }
    }

    private void serve(@Nullable CoreClock cores) {
        try (VerbsDevice device = PerfSupport.open(spec, provider, progress, PerfProgress.ENGINE)) {
            new PerfServer(device, test, cores, spec.commandLine().getOut()).serve(new InetSocketAddress(port), again);
            if (json != null) {
                PerfSupport.write(json, results(device));
            }
        }
    }

    private void measure(PerfOptions options, InetSocketAddress server) {
        if (server.isUnresolved()) {
            throw new UserErrorException("the host " + host + " is not known");
        }
        PerfTable table = new PerfTable(spec.commandLine().getOut(), options, gbits, histogram, unsorted);
        try (VerbsDevice device = PerfSupport.open(spec, provider, progress, PerfProgress.MANUAL)) {
            List<PerfRow> rows = PerfClient.run(device, options, table, server);
            if (json != null) {
                write(json, options, rows, device);
            }
        }
    }

    private PerfOptions options() {
        boolean latency = test.isLatency();
        long count =
                iterations != null ? iterations : latency ? DEFAULT_LATENCY_ITERATIONS : DEFAULT_BANDWIDTH_ITERATIONS;
        String one = size != null ? size : latency ? DEFAULT_LATENCY_SIZE : DEFAULT_BANDWIDTH_SIZE;
        try {
            return new PerfOptions(
                    test,
                    all ? PerfOptions.allSizes() : List.of(ByteSize.parse(one)),
                    count,
                    seconds,
                    queuePairs,
                    txDepth,
                    outstandingReads,
                    inline,
                    events,
                    moderation != null ? moderation : Math.max(1, Math.min(DEFAULT_MODERATION, txDepth)),
                    warmUpMillis,
                    bidirectional);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        }
    }

    /** What both ends write: where they ran, and what the device counted. */
    private ObjectNode results(VerbsDevice device) {
        ObjectMapper mapper = new ObjectMapper();
        ObjectNode root = mapper.createObjectNode();
        root.put("schema", 1).put("test", test.command()).put("device", device.name());
        root.set("machine", mapper.valueToTree(MachineDescription.here(PerfSupport.codeDirectory())));
        root.set("counters", mapper.valueToTree(device.counters()));
        return root;
    }

    private void write(Path file, PerfOptions options, List<PerfRow> rows, VerbsDevice device) {
        ObjectNode root = results(device);
        root.set("options", new ObjectMapper().valueToTree(options));
        ArrayNode results = root.putArray("results");
        for (PerfRow row : rows) {
            ObjectNode node = results.addObject();
            node.put("MsgSize", row.sizeBytes()).put("n_iterations", row.iterations());
            row.values().forEach(node::put);
            node.put("serverCpuMicrosPerOp", row.server().processMicros());
            double core = row.server().coreMicros();
            node.put("serverCoreMicrosPerOp", Double.isNaN(core) ? null : (Double) core);
        }
        PerfSupport.write(file, root);
    }

    /** {@code perf read-lat}. */
    @Command(name = "read-lat", description = "Round trip of a READ (perftest's ib_read_lat).")
    static final class ReadLatency extends PerfTestCommand {
        ReadLatency() {
            super(PerfTest.READ_LATENCY);
        }
    }

    /** {@code perf read-bw}. */
    @Command(name = "read-bw", description = "Bandwidth of READs (ib_read_bw).")
    static final class ReadBandwidth extends PerfTestCommand {
        ReadBandwidth() {
            super(PerfTest.READ_BANDWIDTH);
        }
    }

    /** {@code perf write-lat}. */
    @Command(
            name = "write-lat",
            description = {
                "Half the round trip of a WRITE with an empty SEND behind it (ib_write_lat).",
                "Unlike perftest it does not poll the last byte of memory, which not every transport allows."
            })
    static final class WriteLatency extends PerfTestCommand {
        WriteLatency() {
            super(PerfTest.WRITE_LATENCY);
        }
    }

    /** {@code perf write-bw}. */
    @Command(name = "write-bw", description = "Bandwidth of WRITEs, until all were placed (ib_write_bw).")
    static final class WriteBandwidth extends PerfTestCommand {
        WriteBandwidth() {
            super(PerfTest.WRITE_BANDWIDTH);
        }
    }

    /** {@code perf send-lat}. */
    @Command(name = "send-lat", description = "Half the round trip of a SEND (ib_send_lat).")
    static final class SendLatency extends PerfTestCommand {
        SendLatency() {
            super(PerfTest.SEND_LATENCY);
        }
    }

    /** {@code perf send-bw}. */
    @Command(name = "send-bw", description = "Bandwidth of SENDs, with credits for RECVs (ib_send_bw).")
    static final class SendBandwidth extends PerfTestCommand {
        SendBandwidth() {
            super(PerfTest.SEND_BANDWIDTH);
        }
    }
}
