package org.softrdma.bench.wimpy;

import java.net.InetAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.softrdma.bench.cpu.Pinning;
import org.softrdma.bench.machine.ShapedLink;
import org.softrdma.bench.read.NativePrograms;
import org.softrdma.bench.read.Yardstick;
import org.softrdma.bench.server.MemcachedAdmin;
import org.softrdma.bench.server.RedisAdmin;
import org.softrdma.bench.server.ServerCertificate;
import org.softrdma.bench.server.ServerMeter;
import org.softrdma.bench.server.ServerProcess;
import org.softrdma.bench.study.StudySetup;
import org.softrdma.bench.study.SystemList;
import org.softrdma.bench.workload.FloorGetLoad;
import org.softrdma.bench.workload.GetLoad;
import org.softrdma.bench.workload.MixPairs;
import org.softrdma.bench.workload.PipelinedGetLoad;
import org.softrdma.bench.workload.ReadGetLoad;
import org.softrdma.bench.workload.TcpCommands;
import org.softrdma.kv.CloseStack;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * Starts every server that this machine has, on the same cores, with the same pairs: memcached, redis, {@code softrdma server}
 * once for each registration, once over its other transports and once with READs on the same host, the C responder; if the plan says so,
 * memcached and {@code softrdma server} in TLS. If another build was named: memcached, and as many servers of either build as
 * there are rounds, because no two JVMs compile a program to quite the same code. What is not there or does not start is
 * skipped with its reason; only without {@code softrdma server} there is no study. Belongs to the thread of the study.
 */
final class LocalSystems {
    /** So much memory that nothing is evicted, whatever the classes of the slabs are. */
    private static final long MEMORY_FACTOR = 2;

    private static final long MEMORY_RESERVE = 256L << 20;
    /** As memcached's default; more if the load has more. */
    private static final int LEAST_CONNECTIONS = 1024;
    /** One load for each way to ask, and some to spare. */
    private static final int CONNECTIONS_PER_CLIENT = 4;

    private static final String OVER_TCP = " over TCP";
    private static final String EPOLL = "epoll";
    private static final String OVER_EPOLL = "softrdma over epoll";
    private static final String SAME_HOST = "softrdma, READ on the same host";
    private static final String INSTALL = " is not installed; ./ci/install installs it";

    private final WimpyPlan plan;
    private final StudySetup setup;
    private final List<MixPairs> spaces;
    private final CloseStack opened;
    private final SystemList<MeasuredSystem> list;
    private final ServerProcess.Resources resources;
    /** What the servers have opened that choose their transport themselves. */
    private String device = "";

    /**
     * Systems that are not started yet.
     *
     * @param plan what is measured
     * @param setup where
     * @param spaces the pairs
     * @param coreCount cores of the servers
     * @param link at whose far end the servers are; null for this end of none
     * @param opened takes what is started, to be closed
     */
    LocalSystems(
            WimpyPlan plan,
            StudySetup setup,
            List<MixPairs> spaces,
            int coreCount,
            @Nullable ShapedLink link,
            CloseStack opened) {
        this.plan = plan;
        this.setup = setup;
        this.spaces = spaces;
        this.opened = opened;
        list = new SystemList<>(setup.progress()::say);
        List<Integer> servers = plan.cores().servers();
        List<Integer> cores = servers.subList(0, Math.min(coreCount, servers.size()));
        resources = new ServerProcess.Resources(
                link == null ? InetAddress.getLoopbackAddress() : link.address(),
                Stream.concat(
                                link == null ? Stream.empty() : link.prefix().stream(),
                                Pinning.detect().prefix(cores).stream())
                        .toList(),
                coreCount,
                MEMORY_FACTOR * plan.totalBytes() + MEMORY_RESERVE,
                Math.max(LEAST_CONNECTIONS, CONNECTIONS_PER_CLIENT * plan.clients()));
    }

    /** Starts them all. */
    SystemList<MeasuredSystem> start() {
        list.attempt("memcached", () -> startMemcached(plan.memcachedCommands()));
        if (!setup.otherServer().isEmpty()) {
            startBuilds();
            return list;
        }
        list.attempt("redis", this::startRedis);
        setup.progress().say("starting softrdma server, storing " + plan.pairs() + " pairs of each length");
        startSoftrdma(List.of(), true, "");
        list.attempt("softrdma, READ chunk", () -> startSoftrdma(List.of("--registration", "chunk"), false, ""));
        list.attempt(SAME_HOST, this::startOnSameHost);
        list.attempt(OVER_EPOLL, this::startOverEpoll);
        if (plan.extras().contains(WimpyPlan.Extra.TLS)) {
            list.attempt("TLS", this::startInTls);
        }
        list.attempt("C floor", this::startFloor);
        return list;
    }

    /** Starts those of the paper's figure 1: memcached as it is usually asked, and READ. */
    SystemList<MeasuredSystem> startOverLink() {
        list.attempt("memcached", () -> startMemcached(List.of(TcpCommands.CLASSIC)));
        setup.progress().say("starting softrdma server at the end of a link");
        list.attempt(MeasuredSystem.OURS, () -> startSoftrdma(List.of(), false, ""));
        return list;
    }

    private Optional<Path> find(String name, String program) {
        Optional<Path> found = ServerProcess.find(program, setup.searchPath());
        if (found.isEmpty()) {
            list.skip(name, program + INSTALL);
        }
        found.ifPresent(path -> setup.progress().say("starting " + path));
        return found;
    }

    private void startMemcached(List<TcpCommands> commands) {
        Optional<Path> program = find("memcached", "memcached");
        if (program.isEmpty()) {
            return;
        }
        ServerProcess server = opened.add(ServerProcess.memcached(program.get(), resources, List.of()));
        String name;
        try (MemcachedAdmin admin = new MemcachedAdmin(server.address())) {
            name = "memcached " + admin.version();
            spaces.forEach(admin::insert);
        }
        for (TcpCommands command : commands) {
            overTcp(MeasuredSystem.Kind.MEMCACHED, name, server, command, "");
        }
        list.addProcess(server.pid());
    }

    private void startRedis() {
        Optional<Path> program = find("redis", "redis-server");
        if (program.isEmpty()) {
            return;
        }
        ServerProcess server = opened.add(ServerProcess.redis(program.get(), resources));
        String name;
        try (RedisAdmin admin = new RedisAdmin(server.address())) {
            name = "redis " + admin.version();
            spaces.forEach(admin::insert);
        }
        overTcp(MeasuredSystem.Kind.REDIS, name, server, TcpCommands.RESP, "");
        list.addProcess(server.pid());
    }

    /** What the servers do not choose themselves where io_uring works. */
    private void startOverEpoll() {
        if (setup.epollOption().isEmpty()) {
            list.skip(OVER_EPOLL, "the provider has one transport, or --device chooses one");
        } else if (device.contains(EPOLL)) {
            list.skip(OVER_EPOLL, "io_uring does not work here; `softrdma providers` says why");
        } else {
            List<String> options = List.of("--device", setup.epollOption().get(), "--io", EPOLL);
            startSoftrdma(options, true, ", " + EPOLL);
        }
    }

    /** A server that shows its items to the load. */
    private void startOnSameHost() {
        ServerProcess server = startServer(List.of("--same-host", "auto"));
        MemcachedAdmin admin = opened.add(new MemcachedAdmin(server.address()));
        ReadGetLoad reads = connect(server);
        if (reads.sameHostReads() == 0) {
            list.skip(SAME_HOST, "the provider's devices do not read so here, or the server does not show its items");
        } else {
            list.add(reads(MeasuredSystem.Kind.SOFTRDMA_SAME_HOST, "READ, same host", reads, server, admin));
        }
        list.addProcess(server.pid());
    }

    /**
     * Starts a server that is READ, and asked by TCP too.
     *
     * @param options of its own
     * @param withTcp if it is asked by TCP
     * @param how behind the names of the ways to ask
     */
    private void startSoftrdma(List<String> options, boolean withTcp, String how) {
        ServerProcess server = startServer(options);
        MemcachedAdmin admin = opened.add(new MemcachedAdmin(server.address()));
        if (how.isEmpty()) {
            device = admin.device();
        }
        String protocol = "READ " + admin.registration().orElseThrow() + how;
        list.add(reads(MeasuredSystem.Kind.SOFTRDMA_READ, protocol, connect(server), server, admin));
        if (withTcp) {
            TcpCommands cheapest = admin.knowsMetaGet() ? TcpCommands.META : TcpCommands.CLASSIC;
            overTcp(MeasuredSystem.Kind.SOFTRDMA_TCP, MeasuredSystem.OURS, server, cheapest, OVER_TCP + how);
            if (how.isEmpty() && plan.extras().contains(WimpyPlan.Extra.BINARY)) {
                overTcp(MeasuredSystem.Kind.SOFTRDMA_TCP, MeasuredSystem.OURS, server, TcpCommands.BINARY, OVER_TCP);
            }
        }
        list.addProcess(server.pid());
    }

    /** Both builds, by {@code mg}, and by READ if the other speaks this build's protocol: neither does what the other cannot. */
    private void startBuilds() {
        boolean reads = startBuild(setup.otherServer(), MeasuredSystem.OTHER_BUILD, true);
        startBuild(setup.server(), MeasuredSystem.THIS_BUILD, reads);
    }

    /** Servers of a build, a process for each round; false if they cannot be READ from. */
    private boolean startBuild(List<String> program, String build, boolean alsoReads) {
        int processes = plan.timing().rounds();
        setup.progress().say("starting " + processes + " softrdma servers" + build);
        List<MeasuredSystem.Server> overTcp = new ArrayList<>();
        List<MeasuredSystem.Server> byRead = new ArrayList<>();
        for (int i = 0; i < processes; i++) {
            ServerProcess server = startServer(program, List.of());
            MemcachedAdmin admin = opened.add(new MemcachedAdmin(server.address()));
            spaces.forEach(admin::insert);
            overTcp.add(MeasuredSystem.Server.of(server, pipelined(server, TcpCommands.META), null));
            list.addProcess(server.pid());
            if (alsoReads && byRead.size() == i) {
                list.attempt(
                        "READ" + build,
                        () -> byRead.add(MeasuredSystem.Server.of(server, connect(server), admin::responderReads)));
            }
        }
        list.add(new MeasuredSystem(
                MeasuredSystem.Kind.SOFTRDMA_TCP,
                MeasuredSystem.OURS,
                null,
                TcpCommands.META.getLabel() + OVER_TCP + build,
                overTcp));
        if (byRead.size() < processes) {
            return false;
        }
        list.add(new MeasuredSystem(
                MeasuredSystem.Kind.SOFTRDMA_READ, MeasuredSystem.OURS, setup.provider(), "READ" + build, byRead));
        return true;
    }

    /** memcached and this server once more, each with a port that speaks TLS. */
    private void startInTls() {
        ServerCertificate certificate = opened.add(ServerCertificate.generate());
        find("memcached in TLS", "memcached")
                .ifPresent(program -> list.attempt(
                        "memcached in TLS",
                        () -> inTls(
                                MeasuredSystem.Kind.MEMCACHED_TLS,
                                "memcached",
                                ServerProcess.memcached(program, resources, certificate.options()),
                                certificate)));
        inTls(MeasuredSystem.Kind.SOFTRDMA_TLS, MeasuredSystem.OURS, startServer(certificate.options()), certificate);
    }

    private void inTls(MeasuredSystem.Kind kind, String name, ServerProcess server, ServerCertificate certificate) {
        opened.add(server);
        try (MemcachedAdmin admin = new MemcachedAdmin(server.address(), certificate)) {
            spaces.forEach(admin::insert);
        }
        GetLoad load = opened.add(new PipelinedGetLoad(
                server.address(), TcpCommands.META, plan.clients(), plan.maxWindow(), certificate.clients()));
        list.add(new MeasuredSystem(
                kind,
                name,
                null,
                TcpCommands.META.getLabel() + " in TLS",
                MeasuredSystem.Server.of(server, load, null)));
        list.addProcess(server.pid());
    }

    private ServerProcess startServer(List<String> options) {
        return startServer(setup.server(), options);
    }

    private ServerProcess startServer(List<String> program, List<String> options) {
        List<String> command = new ArrayList<>(program);
        if (resources.threads() > 1 && setup.engineThreadsOption().isPresent()) {
            command.addAll(List.of("--device", setup.engineThreadsOption().get() + "=" + resources.threads()));
        }
        // At the end of a link there is one address.
        ServerProcess.Resources own = resources.host().isLoopbackAddress()
                ? resources.at(setup.hosts().next())
                : resources;
        return opened.add(ServerProcess.softrdma(command, own, options));
    }

    /** A load whose clients know where all pairs are. */
    private ReadGetLoad connect(ServerProcess server) {
        ReadGetLoad reads = opened.add(ReadGetLoad.connect(setup.devices(), server.address(), plan.readLimits()));
        spaces.forEach(reads::insert);
        spaces.forEach(reads::learn);
        return reads;
    }

    private MeasuredSystem reads(
            MeasuredSystem.Kind kind, String protocol, ReadGetLoad reads, ServerProcess server, MemcachedAdmin admin) {
        return new MeasuredSystem(
                kind,
                MeasuredSystem.OURS,
                setup.provider(),
                protocol,
                MeasuredSystem.Server.of(server, reads, admin::responderReads));
    }

    private void overTcp(
            MeasuredSystem.Kind kind, String name, ServerProcess server, TcpCommands command, String suffix) {
        MeasuredSystem.Server measured = MeasuredSystem.Server.of(server, pipelined(server, command), null);
        list.add(new MeasuredSystem(kind, name, null, command.getLabel() + suffix, measured));
    }

    private GetLoad pipelined(ServerProcess server, TcpCommands command) {
        return opened.add(new PipelinedGetLoad(server.address(), command, plan.clients(), plan.maxWindow()));
    }

    private void startFloor() {
        if (resources.threads() > 1) {
            list.skip("C floor", "it has only one thread");
            return;
        }
        NativePrograms programs = NativePrograms.prepare(
                setup.nativeSources(),
                setup.nativeSources().resolveSibling("target").resolve("native"));
        VerbsDevice device = opened.add(setup.devices().open(Map.of("progress", "manual")));
        long memory = spaces.stream().mapToLong(MixPairs::totalBytes).max().orElseThrow();
        Yardstick yardstick = Yardstick.start(
                programs.readResponder(setup.hosts()),
                resources.pinning(),
                device,
                new Yardstick.Limits(plan.clients(), plan.maxWindow(), plan.maxValueLength(), memory));
        FloorGetLoad load = opened.add(new FloorGetLoad(yardstick));
        list.add(new MeasuredSystem(
                MeasuredSystem.Kind.FLOOR,
                "C floor",
                setup.provider(),
                "READ",
                new MeasuredSystem.Server(load, ServerMeter.ofProcess(yardstick.clock()), null)));
        list.addProcess(yardstick.pid());
    }
}
