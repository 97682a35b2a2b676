package org.softrdma.stores.herd;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.softrdma.stores.Consistency;
import org.softrdma.stores.Promises;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreCounters;
import org.softrdma.stores.StoreDesign;
import org.softrdma.stores.StoreServer;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.stores.herd.mica.MicaTable;
import org.softrdma.stores.herd.mica.MicaWatcher;
import org.softrdma.stores.herd.transport.HerdAnswers;
import org.softrdma.stores.herd.transport.HerdChannels;
import org.softrdma.stores.herd.transport.HerdPort;
import org.softrdma.stores.herd.wire.HerdShape;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * HERD, whatever carries its requests and answers. The paper's form polls the last word of a WRITE, and executes
 * retransmitted requests again. The safe form compares a checksum, and numbers requests. Stateless.
 */
abstract class AbstractHerdDesign implements StoreDesign {
    @Override
    public final String paper() {
        return "Kalia, Kaminsky, Andersen: Using RDMA Efficiently for Key-Value Services, SIGCOMM 2014";
    }

    @Override
    public final Promises promises(Protocol protocol) {
        boolean safe = protocol == Protocol.SAFE;
        return new Promises(safe ? Consistency.LINEARIZABLE : Consistency.NONE, safe, false, false, true, true);
    }

    @Override
    public final Map<String, String> serverOptions() {
        return HerdServerSettings.known();
    }

    @Override
    public final Map<String, String> clientOptions() {
        return HerdRetries.known();
    }

    /** What it makes of requests in slots, in one of its forms. */
    final HerdVariant variant(Protocol protocol) {
        return new HerdVariant(name(), protocol, HerdAnswers.SENT);
    }

    /**
     * Listens.
     *
     * @param polled true for slots in memory that the device writes in order for who polls it
     */
    abstract HerdPort listen(
            VerbsDevice device,
            StoreServerContext context,
            HerdShape shape,
            boolean polled,
            List<StoreCounters> counters);

    /** A client's ways to a server. */
    abstract HerdChannels channels(VerbsDevice device, InetSocketAddress server);

    @Override
    public final StoreServer serve(VerbsDevice device, StoreServerContext context) {
        requireFeatures(device, context.protocol());
        return serve(device, context, device.capabilities().has(Feature.ORDERED_PLACEMENT), MicaWatcher.NONE);
    }

    /**
     * Makes a server.
     *
     * @param polled true for slots in memory that the device writes in order for who polls it
     * @param watcher is told what becomes of pairs
     */
    final HerdServer serve(VerbsDevice device, StoreServerContext context, boolean polled, MicaWatcher watcher) {
        HerdServerSettings settings = HerdServerSettings.of(context);
        List<MicaTable> parts = new ArrayList<>();
        for (int worker = 0; worker < settings.workers(); worker++) {
            parts.add(new MicaTable(settings.logBuckets(), 1 << settings.logCapacity(), watcher));
        }
        return new HerdServer(
                context,
                variant(context.protocol()),
                parts,
                (shape, counters) -> listen(device, context, shape, polled, counters));
    }

    @Override
    public final StoreClient connect(VerbsDevice device, StoreClientContext context) {
        if (context.servers().size() != 1) {
            throw new IllegalArgumentException(context.servers() + ": expected one server");
        }
        requireFeatures(device, context.protocol());
        InetSocketAddress server = context.servers().getFirst();
        return new HerdClient(
                context, variant(context.protocol()), server, new StoreCounters(), () -> channels(device, server));
    }
}
