package org.softrdma.bench.wimpy;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.bench.server.MemcachedAdmin;
import org.softrdma.bench.server.ServerAdmin;
import org.softrdma.bench.server.ServerMeter;
import org.softrdma.bench.study.StudySetup;
import org.softrdma.bench.study.SystemList;
import org.softrdma.bench.workload.GetLoad;
import org.softrdma.bench.workload.MixPairs;
import org.softrdma.bench.workload.PipelinedGetLoad;
import org.softrdma.bench.workload.ReadGetLoad;
import org.softrdma.bench.workload.TcpCommands;
import org.softrdma.kv.CloseStack;

/**
 * Connects to servers that run elsewhere and stores the pairs in them. Their CPU is what they say of themselves; one that says
 * nothing is measured without, and the reason is among what was skipped. Belongs to the thread of the study.
 */
final class RemoteSystems {
    private final WimpyPlan plan;
    private final StudySetup setup;
    private final List<MixPairs> spaces;
    private final CloseStack opened;
    private final SystemList<MeasuredSystem> list;

    /**
     * Systems that are not connected yet.
     *
     * @param plan what is measured
     * @param setup where the load runs
     * @param spaces the pairs
     * @param opened takes what is connected, to be closed
     */
    RemoteSystems(WimpyPlan plan, StudySetup setup, List<MixPairs> spaces, CloseStack opened) {
        this.plan = plan;
        this.setup = setup;
        this.spaces = spaces;
        this.opened = opened;
        list = new SystemList<>(setup.progress()::say);
    }

    /** Connects to all. */
    SystemList<MeasuredSystem> connect(StudySetup.Remote addresses) {
        // First of all, so that a wrong address is told at once.
        MemcachedAdmin softrdma = opened.add(new MemcachedAdmin(addresses.softrdma()));
        InetSocketAddress memcached = addresses.memcached();
        if (memcached == null) {
            list.skip("memcached", "no address given: use --connect-memcached HOST[:PORT]");
        } else {
            connectMemcached(memcached);
        }
        list.skip("redis", "not measured with --connect");
        connectSoftrdma(addresses.softrdma(), softrdma);
        list.skip("C floor", "not measured with --connect");
        if (plan.extras().contains(WimpyPlan.Extra.TLS)) {
            list.skip("TLS", "not measured with --connect");
        }
        return list;
    }

    private void connectMemcached(InetSocketAddress address) {
        MemcachedAdmin admin = opened.add(new MemcachedAdmin(address));
        String name = "memcached " + admin.version();
        spaces.forEach(admin::insert);
        noteCpu(name, admin);
        for (TcpCommands command : plan.memcachedCommands()) {
            overTcp(MeasuredSystem.Kind.MEMCACHED, name, address, command, admin);
        }
    }

    private void connectSoftrdma(InetSocketAddress address, MemcachedAdmin admin) {
        setup.progress().say("storing " + plan.pairs() + " pairs of each length at " + StudySetup.text(address));
        Optional<String> registration = admin.registration();
        if (registration.isEmpty()) {
            throw new MeasurementException("--connect " + StudySetup.text(address)
                    + ": not a softrdma server, it does not know 'rdma hello'; version " + admin.version());
        }
        ReadGetLoad reads = opened.add(ReadGetLoad.connect(setup.devices(), address, plan.readLimits()));
        spaces.forEach(reads::insert);
        spaces.forEach(reads::learn);
        noteCpu(MeasuredSystem.OURS, admin);
        list.add(new MeasuredSystem(
                MeasuredSystem.Kind.SOFTRDMA_READ,
                MeasuredSystem.OURS,
                setup.provider(),
                "READ " + registration.get(),
                new MeasuredSystem.Server(reads, ServerMeter.ofServer(admin), admin::responderReads)));
        TcpCommands cheapest = admin.knowsMetaGet() ? TcpCommands.META : TcpCommands.CLASSIC;
        overTcp(MeasuredSystem.Kind.SOFTRDMA_TCP, MeasuredSystem.OURS, address, cheapest, admin);
        if (plan.extras().contains(WimpyPlan.Extra.BINARY)) {
            overTcp(MeasuredSystem.Kind.SOFTRDMA_TCP, MeasuredSystem.OURS, address, TcpCommands.BINARY, admin);
        }
    }

    private void noteCpu(String name, ServerAdmin admin) {
        if (admin.cpuTime().isEmpty()) {
            list.skip("server CPU of " + name, "its stats have no rusage_user and rusage_system");
        }
    }

    private void overTcp(
            MeasuredSystem.Kind kind, String name, InetSocketAddress address, TcpCommands command, ServerAdmin admin) {
        GetLoad load = opened.add(new PipelinedGetLoad(address, command, plan.clients(), plan.maxWindow()));
        String protocol = command.getLabel() + (kind == MeasuredSystem.Kind.SOFTRDMA_TCP ? " over TCP" : "");
        list.add(new MeasuredSystem(
                kind, name, null, protocol, new MeasuredSystem.Server(load, ServerMeter.ofServer(admin), null)));
    }
}
