package org.softrdma.cli.perf;

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
import org.softrdma.bench.cpu.Pinning;
import org.softrdma.bench.machine.MachineDescription;
import org.softrdma.bench.measurement.ByteSize;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.bench.perftest.PerfClient;
import org.softrdma.bench.perftest.PerfOptions;
import org.softrdma.bench.perftest.PerfRow;
import org.softrdma.bench.perftest.PerfServer;
import org.softrdma.bench.perftest.PerfTable;
import org.softrdma.bench.perftest.PerfTest;
import org.softrdma.cli.command.CommandFailure;
import org.softrdma.cli.command.DeviceProgress;
import org.softrdma.cli.command.ExitCode;
import org.softrdma.cli.command.OwnProgram;
import org.softrdma.cli.command.ProviderMixin;
import org.softrdma.cli.command.ResultFile;
import org.softrdma.cli.command.UserErrorException;
import org.softrdma.verbs.MemorySource;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.device.VerbsDevice;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code softrdma perf read-lat} and its siblings: the server without HOST, the client with it. */
abstract class PerfTestCommand implements Callable<Integer> {
    private static final int DEFAULT_PORT = 18_515;
    private static final int LAST_PORT = 65_535;
    private static final String DEFAULT_LATENCY_SIZE = "2";
    private static final String ATOMIC_SIZE = "8";
    private static final String DEFAULT_BANDWIDTH_SIZE = "65536";
    private static final long DEFAULT_LATENCY_ITERATIONS = 1000;
    private static final long DEFAULT_BANDWIDTH_ITERATIONS = 5000;
    private static final int DEFAULT_MODERATION = 100;

    private final PerfTest test;

    @Spec
    CommandSpec spec = CommandSpec.create();

    @Mixin
    private ProviderMixin provider = new ProviderMixin();

    @Parameters(
            arity = "0..1",
            paramLabel = "HOST",
            description = "The server to connect to. If omitted, run as the server.")
    private @Nullable String host;

    @Option(
            names = {"-p", "--port"},
            paramLabel = "N",
            defaultValue = "" + DEFAULT_PORT,
            description = "Port of the server (${DEFAULT-VALUE}). A server takes 0 for any that is free.")
    private int port;

    @Option(
            names = {"-s", "--size"},
            paramLabel = "SIZE",
            description = "Message size in bytes, or with suffix K, M or G (2 for latency, 65536 for bandwidth,"
                    + " always 8 for atomics).")
    private @Nullable String size;

    @Option(
            names = {"-a", "--all"},
            description = "Run all sizes from 2 to 2^23.")
    private boolean all;

    @Option(
            names = {"-n", "--iters"},
            paramLabel = "N",
            description = "Number of operations per queue pair (1000 for latency, 5000 for bandwidth).")
    private @Nullable Long iterations;

    @Option(
            names = {"-D", "--duration"},
            paramLabel = "SECONDS",
            defaultValue = "0",
            description = "Run each size for this long, instead of -n.")
    private int seconds;

    @Option(
            names = {"-q", "--qp"},
            paramLabel = "N",
            defaultValue = "1",
            description = "Number of queue pairs (bandwidth only; ${DEFAULT-VALUE}).")
    private int queuePairs;

    @Option(
            names = {"-t", "--tx-depth"},
            paramLabel = "N",
            defaultValue = "128",
            description = "Maximum number of posted operations per queue pair (${DEFAULT-VALUE}).")
    private int txDepth;

    @Option(
            names = {"-o", "--outs"},
            paramLabel = "N",
            defaultValue = "0",
            description = "Maximum number of READs in flight per queue pair (as many as are posted, within"
                    + " the device's limit).")
    private int outstandingReads;

    @Option(
            names = {"-I", "--inline_size", "--inline"},
            paramLabel = "BYTES",
            defaultValue = "0",
            description = "Send messages up to this size inline.")
    private int inline;

    @Option(
            names = {"-A", "--atomic_type"},
            paramLabel = "TYPE",
            defaultValue = "FETCH_AND_ADD",
            description = "FETCH_AND_ADD or CMP_AND_SWAP (atomic-lat and atomic-bw; ${DEFAULT-VALUE}).")
    private AtomicType atomicType = AtomicType.FETCH_AND_ADD;

    @Option(
            names = "--initiators",
            paramLabel = "N",
            defaultValue = "1",
            description = "Run this many initiators at once, each with its own device, thread and -q queue pairs"
                    + " (${DEFAULT-VALUE}; READs, atomics and write-bw). Their atomics all access the same word.")
    private int initiators;

    @Option(
            names = {"-e", "--events"},
            description = "Wait for events instead of polling.")
    private boolean events;

    @Option(
            names = {"-Q", "--cq-mod"},
            paramLabel = "N",
            description = "Request a completion every N operations (100, at most -t; bandwidth only).")
    private @Nullable Integer moderation;

    @Option(
            names = {"-b", "--bidirectional"},
            description = "Run both directions at once (read-bw and write-bw).")
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
            description = "Report bandwidth in Gb/sec instead of MiB/sec.")
    private boolean gbits;

    @Option(
            names = "--json",
            paramLabel = "FILE",
            description =
                    "Also write the results and the device's counters to this file. A server writes its counters.")
    private @Nullable Path json;

    @Option(
            names = "--warm-up",
            paramLabel = "MILLIS",
            defaultValue = "2000",
            description = "Warm up for this long before the first size, and for a tenth of it before each"
                    + " other size (${DEFAULT-VALUE}; the JIT compiler needs it).")
    private int warmUpMillis;

    @Option(
            names = "--progress",
            paramLabel = "engine|manual",
            description = "What drives a software device: threads of its own (engine), or the calling"
                    + " thread (manual). The default is engine for the server, manual for the client.")
    private @Nullable DeviceProgress progress;

    @Option(
            names = "--cpu",
            paramLabel = "N",
            defaultValue = "-1",
            description = "Pin this process to a core. A server then also reports that core's busy time.")
    private int cpu;

    @Option(
            names = "--same-host",
            description = "Server: share the memory with clients of this user on this host, which then READ it without"
                    + " the server (docs/design/same-host.md).")
    private boolean sameHost;

    @Option(
            names = {"--run-infinitely", "--run_infinitely"},
            description = "Server: keep serving, one client after another.")
    private boolean again;

    /** The names of perftest. */
    private enum AtomicType {
        FETCH_AND_ADD,
        CMP_AND_SWAP
    }

    PerfTestCommand(PerfTest test) {
        this.test = test;
    }

    @Override
    public Integer call() {
        int firstPort = host == null ? 0 : 1;
        if (port < firstPort || port > LAST_PORT) {
            throw new ParameterException(
                    spec.commandLine(), "-p " + port + ": expected a port from " + firstPort + " to " + LAST_PORT);
        }
        if (all && size != null) {
            throw new ParameterException(spec.commandLine(), "-a and -s: expected only one of them");
        }
        if (cpu >= 0 && !Pinning.exists(cpu)) {
            throw new ParameterException(spec.commandLine(), "--cpu " + cpu + ": this machine has no such core");
        }
        if (host == null && again && json != null) {
            throw new ParameterException(
                    spec.commandLine(),
                    "--json: a server that runs infinitely writes no results; omit --run-infinitely");
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
            return ExitCode.OK;
        } catch (MeasurementException | VerbsException e) {
            return CommandFailure.tell(spec, e);
        }
    }

    private void serve(@Nullable CoreClock cores) {
        try (VerbsDevice device = provider.open(progress, DeviceProgress.ENGINE)) {
            MemorySource memory = sameHost ? new MemorySource.Shareable() : new MemorySource.Anonymous();
            new PerfServer(device, test, cores, spec.commandLine().getOut(), memory)
                    .serve(new InetSocketAddress(port), again);
            if (json != null) {
                ResultFile.write(json, results(device));
            }
        }
    }

    private void measure(PerfOptions options, InetSocketAddress server) {
        if (server.isUnresolved()) {
            throw new UserErrorException("the host " + host + " is unknown");
        }
        PerfTable table = new PerfTable(spec.commandLine().getOut(), options, gbits, histogram, unsorted);
        try (VerbsDevice device = provider.open(progress, DeviceProgress.MANUAL)) {
            List<PerfRow> rows = PerfClient.run(
                    device, () -> provider.open(progress, DeviceProgress.MANUAL), options, table, server);
            if (json != null) {
                write(json, options, rows, device);
            }
        }
    }

    private PerfOptions options() {
        boolean latency = test.isLatency();
        long count =
                iterations != null ? iterations : latency ? DEFAULT_LATENCY_ITERATIONS : DEFAULT_BANDWIDTH_ITERATIONS;
        String usual = test.opcode().isAtomic() ? ATOMIC_SIZE : latency ? DEFAULT_LATENCY_SIZE : DEFAULT_BANDWIDTH_SIZE;
        String one = size != null ? size : usual;
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
                    bidirectional,
                    atomicType == AtomicType.CMP_AND_SWAP,
                    initiators);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        }
    }

    /** What both ends write: where they ran, and what the device counted. */
    private ObjectNode results(VerbsDevice device) {
        ObjectMapper mapper = new ObjectMapper();
        ObjectNode root = mapper.createObjectNode();
        root.put("schema", 1).put("test", test.command()).put("device", device.name());
        root.set("machine", mapper.valueToTree(MachineDescription.here(OwnProgram.codeDirectory())));
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
        ResultFile.write(file, root);
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
                "Half the round trip of a WRITE followed by an empty SEND (ib_write_lat).",
                "Unlike perftest, it does not poll the last byte of memory: not every transport allows that."
            })
    static final class WriteLatency extends PerfTestCommand {
        WriteLatency() {
            super(PerfTest.WRITE_LATENCY);
        }
    }

    /** {@code perf write-bw}. */
    @Command(name = "write-bw", description = "Bandwidth of WRITEs, measured until all data is placed (ib_write_bw).")
    static final class WriteBandwidth extends PerfTestCommand {
        WriteBandwidth() {
            super(PerfTest.WRITE_BANDWIDTH);
        }
    }

    /** {@code perf write-imm-bw}. */
    @Command(
            name = "write-imm-bw",
            description = "Bandwidth of WRITEs with immediate, with credits for RECVs (ib_write_bw --write_with_imm)."
                    + " Both devices need the feature WRITE_IMMEDIATE.")
    static final class WriteImmediateBandwidth extends PerfTestCommand {
        WriteImmediateBandwidth() {
            super(PerfTest.WRITE_IMMEDIATE_BANDWIDTH);
        }
    }

    /** {@code perf send-lat}. */
    @Command(name = "send-lat", description = "Half the round trip of a SEND (ib_send_lat).")
    static final class SendLatency extends PerfTestCommand {
        SendLatency() {
            super(PerfTest.SEND_LATENCY);
        }
    }

    /** {@code perf atomic-lat}. */
    @Command(
            name = "atomic-lat",
            description = "Round trip of an atomic (ib_atomic_lat). Both devices need the feature ATOMICS.")
    static final class AtomicLatency extends PerfTestCommand {
        AtomicLatency() {
            super(PerfTest.ATOMIC_LATENCY);
        }
    }

    /** {@code perf atomic-bw}. */
    @Command(name = "atomic-bw", description = "Rate of atomics (ib_atomic_bw). Both devices need the feature ATOMICS.")
    static final class AtomicBandwidth extends PerfTestCommand {
        AtomicBandwidth() {
            super(PerfTest.ATOMIC_BANDWIDTH);
        }
    }

    /** {@code perf echo}. */
    @Command(
            name = "echo",
            description = {
                "Half the round trip of a WRITE whose last word both ends poll, as ib_write_lat does.",
                "Both devices need the feature ORDERED_PLACEMENT; write-lat runs on all of them."
            })
    static final class Echo extends PerfTestCommand {
        Echo() {
            super(PerfTest.ECHO);
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
