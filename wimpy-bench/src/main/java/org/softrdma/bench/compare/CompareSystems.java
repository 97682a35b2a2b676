package org.softrdma.bench.compare;

import java.net.InetAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.softrdma.bench.cpu.Pinning;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.bench.server.MemcachedAdmin;
import org.softrdma.bench.server.RedisAdmin;
import org.softrdma.bench.server.ServerProcess;
import org.softrdma.bench.study.StudySetup;
import org.softrdma.bench.study.SystemList;
import org.softrdma.bench.workload.DesignConnections;
import org.softrdma.bench.workload.KvReadConnections;
import org.softrdma.bench.workload.MixPairs;
import org.softrdma.bench.workload.StoreConnections;
import org.softrdma.bench.workload.TcpCommands;
import org.softrdma.bench.workload.TextConnections;
import org.softrdma.kv.CloseStack;
import org.softrdma.kv.client.CompletionLoop;
import org.softrdma.kv.client.KvClient;
import org.softrdma.kv.client.KvClientContext;
import org.softrdma.kv.client.KvProtocol;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreDesign;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * Starts every server that is asked for and that this machine has, on the same core, and connects to it. What is not
 * there or does not start is skipped with its reason. The thread of the study.
 */
final class CompareSystems {
    private static final int MEMORY_FACTOR = 4;
    private static final long MEMORY_RESERVE = 256L << 20;
    private static final int OVERHEAD = 256;
    private static final int LEAST_CONNECTIONS = 1024;
    private static final int HEADROOM = 2048;
    private static final int CHUNK_FACTOR = 2;
    private static final int LOCATORS_PER_KEY = 8;
    /** A busy machine is slow; that is no error of a store. */
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(10);

    /** Designs whose workers may have threads of their own, and hold as many pairs with any number of them. */
    private static final List<String> THREADED = List.of("herd", "herd-rc");

    private static final String INSTALL = " is not installed; ./ci/install installs it";

    private final ComparePlan plan;
    private final StudySetup setup;
    private final int valueLength;
    private final CompareRow.Server waiting;
    private final CloseStack opened;
    private final SystemList<ComparedSystem> list;
    private final ServerProcess.Resources resources;

    /**
     * Systems that are not started yet.
     *
     * @param plan what is compared
     * @param setup where
     * @param valueLength bytes of every value
     * @param waiting how servers of designs wait
     * @param opened takes what is started, to be closed
     */
    CompareSystems(ComparePlan plan, StudySetup setup, int valueLength, CompareRow.Server waiting, CloseStack opened) {
        this.plan = plan;
        this.setup = setup;
        this.valueLength = valueLength;
        this.waiting = waiting;
        this.opened = opened;
        list = new SystemList<>(setup.progress()::say);
        List<Integer> servers = plan.cores().servers();
        long pairBytes = (long) plan.pairs() * (MixPairs.KEY_LENGTH + valueLength + OVERHEAD);
        resources = new ServerProcess.Resources(
                Pinning.detect().prefix(servers.subList(0, Math.min(1, servers.size()))),
                1,
                MEMORY_FACTOR * pairBytes + MEMORY_RESERVE,
                LEAST_CONNECTIONS);
    }

    /**
     * Starts the designs whose workers may have threads of their own, with so many workers each.
     *
     * @param counts of workers
     */
    SystemList<ComparedSystem> startWorkerThreads(List<Integer> counts) {
        for (StoreDesign design : plan.designs()) {
            for (int count : THREADED.contains(design.name()) ? counts : List.<Integer>of()) {
                String label = threadsLabel(design.name(), count);
                list.attempt(label, () -> startDesign(design, label, Map.of("workers", Integer.toString(count))));
            }
        }
        return list;
    }

    /** True if {@link #startWorkerThreads} starts some of the designs. */
    static boolean hasWorkerThreads(ComparePlan plan) {
        return plan.designs().stream().anyMatch(design -> THREADED.contains(design.name()));
    }

    /** The name of a design whose workers have threads of their own. */
    static String threadsLabel(String design, int count) {
        return design + ", " + count + (count == 1 ? " worker thread" : " worker threads");
    }

    /** Starts the designs alone. */
    SystemList<ComparedSystem> startDesigns() {
        for (StoreDesign design : plan.designs()) {
            list.attempt(form() + design.name(), () -> startDesign(design, design.name(), Map.of()));
        }
        return list;
    }

    private String form() {
        return switch (waiting) {
            case SPINNING -> "spinning ";
            case TWO_THREADS -> "two threads of ";
            case OWN, SLEEPING, WORKER_THREADS -> "";
        };
    }

    /** Starts them all. */
    SystemList<ComparedSystem> startAll() {
        SystemList<ComparedSystem> ignored = startDesigns();
        if (plan.wants(ComparePlan.KV)) {
            list.attempt(ComparePlan.KV, () -> startKv(ComparePlan.KV, List.of()));
        }
        if (plan.wants(ComparePlan.KV_CHUNK)) {
            list.attempt(ComparePlan.KV_CHUNK, () -> startKv(ComparePlan.KV_CHUNK, List.of("--registration", "chunk")));
        }
        if (plan.wants(ComparePlan.KV_TCP)) {
            list.attempt(ComparePlan.KV_TCP, this::startKvTcp);
        }
        if (plan.wants(ComparePlan.MEMCACHED)) {
            list.attempt(ComparePlan.MEMCACHED, this::startMemcached);
        }
        if (plan.wants(ComparePlan.REDIS)) {
            list.attempt(ComparePlan.REDIS, this::startRedis);
        }
        return list;
    }

    // ---- stores of papers

    private void startDesign(StoreDesign design, String label, Map<String, String> more) {
        requireFeatures(design);
        setup.progress().say("starting softrdma store --design " + design.name());
        List<String> options = new ArrayList<>(List.of("--design", design.name()));
        options.addAll(List.of("--protocol", plan.protocol().name().toLowerCase(Locale.ROOT)));
        options.addAll(List.of("--window", Integer.toString(plan.maxWindow())));
        options.addAll(List.of("--max-key", Integer.toString(MixPairs.KEY_LENGTH)));
        options.addAll(List.of("--max-value", Integer.toString(valueLength)));
        options.addAll(List.of("--connections", Integer.toString(plan.connections())));
        options.addAll(threadOptions(waiting));
        Map<String, String> ofDesign = new TreeMap<>(plan.serverOptions(design.name(), valueLength));
        ofDesign.putAll(more);
        ofDesign.forEach((name, value) -> options.addAll(List.of("--option", name + "=" + value)));
        ServerProcess server = opened.add(ServerProcess.store(
                setup.store(), resources.pinning(), setup.hosts().next(), options));
        StoreConnections connections = opened.add(new DesignConnections(
                device(), true, plan.connections(), device -> design.connect(device, context(server))));
        server.suspend(); // until it is its turn: its thread looks for work even when there is none
        add(new ComparedSystem(
                SystemKind.DESIGN,
                label,
                waiting,
                connections,
                server,
                server.meter(),
                design.promises(plan.protocol()).lossy(),
                server::report,
                server::report));
    }

    /** Options of a design's server: which threads it has, and what they do when there is nothing to do. */
    static List<String> threadOptions(CompareRow.Server waiting) {
        return List.of(
                "--progress",
                waiting == CompareRow.Server.TWO_THREADS || waiting == CompareRow.Server.WORKER_THREADS
                        ? "engine"
                        : "manual",
                "--idle",
                waiting == CompareRow.Server.SPINNING ? "spin" : "sleep");
    }

    private StoreClientContext context(ServerProcess server) {
        return new StoreClientContext(server.address())
                .protocol(plan.protocol())
                .window(plan.maxWindow())
                .maxKeyLength(MixPairs.KEY_LENGTH)
                .maxValueLength(valueLength)
                .timeoutNs(PATIENCE_NS)
                .connectTimeoutNs(PATIENCE_NS)
                .conclude();
    }

    /** Says which device would have what this one lacks, before a server fails for want of it. */
    private void requireFeatures(StoreDesign design) {
        Set<Feature> missing = new TreeSet<>(design.needs(plan.protocol()));
        if (missing.isEmpty()) {
            return;
        }
        try (VerbsDevice device = device()) {
            missing.removeAll(device.capabilities().features());
            if (!missing.isEmpty()) {
                throw new MeasurementException("the design " + design.name() + " needs "
                        + missing.stream().map(Feature::name).collect(Collectors.joining(", ")) + ", which "
                        + device.name() + " does not have"
                        + (missing.contains(Feature.UNRELIABLE_DATAGRAM) ? "; --device wire=roce does" : ""));
            }
        }
    }

    /** Driven by this thread, as there is one core for the load. On RoCEv2, servers on this machine send datagrams to loopback. */
    private VerbsDevice device() {
        Map<String, String> wanted = new HashMap<>(Map.of("progress", "manual"));
        if (setup.hosts().rocePort().isPresent()) {
            wanted.put("roce-address", InetAddress.getLoopbackAddress().getHostAddress());
        }
        return setup.devices().open(wanted);
    }

    private void add(ComparedSystem system) {
        list.add(system);
        list.addProcess(system.process().pid());
    }

    // ---- the key-value server of this project

    private ServerProcess startServer(String name, List<String> options) {
        setup.progress().say("starting softrdma server for " + name);
        return opened.add(ServerProcess.softrdma(
                setup.server(), resources.at(setup.hosts().next()), options));
    }

    private void startKv(String name, List<String> options) {
        ServerProcess server = startServer(name, options);
        MemcachedAdmin admin = opened.add(new MemcachedAdmin(server.address()));
        VerbsDevice device = device();
        CompletionLoop loop;
        List<KvClient> clients = new ArrayList<>();
        try {
            loop = new CompletionLoop(device, plan.connections(), plan.maxWindow());
            for (int i = 0; i < plan.connections(); i++) {
                clients.add(new KvClient(loop, kvContext(server)));
            }
        } catch (RuntimeException e) {
            clients.forEach(KvClient::close);
            device.close();
            throw e;
        }
        StoreConnections connections = opened.add(new KvReadConnections(
                device, true, loop, clients, texts(server, TcpCommands.META), plan.connections() * plan.maxWindow()));
        add(new ComparedSystem(
                SystemKind.KV_READ,
                name,
                CompareRow.Server.OWN,
                connections,
                server,
                server.meter(),
                false,
                () -> memcachedMemory(admin),
                () -> Map.of("responderReads", admin.responderReads())));
    }

    private KvClientContext kvContext(ServerProcess server) {
        return new KvClientContext(server.address())
                .protocol(KvProtocol.RDMA)
                .window(plan.maxWindow())
                .maxItemLength(CHUNK_FACTOR * (valueLength + HEADROOM))
                .locatorCapacity(LOCATORS_PER_KEY * plan.pairs())
                .conclude();
    }

    private StoreConnections texts(ServerProcess server, TcpCommands commands) {
        return new TextConnections(server.address(), commands, plan.connections(), plan.maxWindow(), valueLength);
    }

    private void startKvTcp() {
        ServerProcess server = startServer(ComparePlan.KV_TCP, List.of());
        MemcachedAdmin admin = opened.add(new MemcachedAdmin(server.address()));
        addText(SystemKind.KV_TCP, ComparePlan.KV_TCP, server, TcpCommands.META, admin);
    }

    // ---- servers of others

    private Optional<Path> find(String name, String program) {
        Optional<Path> found = ServerProcess.find(program, setup.searchPath());
        if (found.isEmpty()) {
            list.skip(name, program + INSTALL);
        }
        found.ifPresent(path -> setup.progress().say("starting " + path));
        return found;
    }

    private void startMemcached() {
        Optional<Path> program = find(ComparePlan.MEMCACHED, "memcached");
        if (program.isEmpty()) {
            return;
        }
        ServerProcess server = opened.add(ServerProcess.memcached(program.get(), resources, List.of()));
        MemcachedAdmin admin = opened.add(new MemcachedAdmin(server.address()));
        String name = ComparePlan.MEMCACHED + " " + admin.version();
        for (TcpCommands commands : List.of(TcpCommands.META, TcpCommands.CLASSIC, TcpCommands.MULTI_KEY)) {
            addText(SystemKind.MEMCACHED, name + ", " + commands.mixLabel(), server, commands, admin);
        }
    }

    private void addText(
            SystemKind kind, String label, ServerProcess server, TcpCommands commands, MemcachedAdmin admin) {
        add(new ComparedSystem(
                kind,
                label,
                CompareRow.Server.OWN,
                opened.add(texts(server, commands)),
                server,
                server.meter(),
                false,
                () -> memcachedMemory(admin),
                Map::of));
    }

    /** Bytes of items as the server counts them: with their headers, without what slabs waste. */
    private static Map<String, Long> memcachedMemory(MemcachedAdmin admin) {
        Map<String, String> stats = admin.stats("");
        Map<String, Long> memory = new HashMap<>();
        memory.put("pairs", Long.valueOf(stats.getOrDefault("curr_items", "0")));
        memory.put("usedBytes", Long.valueOf(stats.getOrDefault("bytes", "0")));
        return memory;
    }

    private void startRedis() {
        Optional<Path> program = find(ComparePlan.REDIS, "redis-server");
        if (program.isEmpty()) {
            return;
        }
        ServerProcess server = opened.add(ServerProcess.redis(program.get(), resources));
        RedisAdmin admin = opened.add(new RedisAdmin(server.address()));
        add(new ComparedSystem(
                SystemKind.REDIS,
                ComparePlan.REDIS + " " + admin.version(),
                CompareRow.Server.OWN,
                opened.add(texts(server, TcpCommands.RESP)),
                server,
                server.meter(),
                false,
                () -> Map.of("pairs", (long) plan.pairs(), "usedBytes", admin.dataBytes()),
                Map::of));
    }
}
