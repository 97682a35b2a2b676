package org.softrdma.stores.herd;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.Agent;
import org.softrdma.stores.SpaceUse;
import org.softrdma.stores.StoreCounters;
import org.softrdma.stores.StoreException;
import org.softrdma.stores.StoreServer;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.stores.connection.ClientSessions;
import org.softrdma.stores.herd.part.HerdPart;
import org.softrdma.stores.herd.transport.HerdAnswers;
import org.softrdma.stores.herd.transport.HerdHost;
import org.softrdma.stores.herd.transport.HerdPeer;
import org.softrdma.stores.herd.transport.HerdPort;
import org.softrdma.stores.herd.transport.HerdPorts;
import org.softrdma.stores.herd.wire.HerdForms;
import org.softrdma.stores.herd.wire.HerdRequestForm;
import org.softrdma.stores.herd.wire.HerdShape;
import org.softrdma.stores.herd.wire.HerdWelcome;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.VerbsException;

/**
 * The server of HERD, and of what is built like it: lets clients in, ends connections, and frees what no worker touches any
 * more. Its workers have threads of their own if somebody gives them some; else they take turns here. Owned by the thread
 * of {@link #doWork}.
 */
final class HerdServer implements StoreServer, HerdHost {
    private final StoreServerContext context;
    private final HerdVariant variant;
    private final HerdShape shape;
    private final HerdRequestForm form;
    private final HerdPort port;
    private final ClientSessions<HerdSession> sessions;
    private final HerdRoster roster;
    private final List<StoreCounters> counters = new ArrayList<>();
    private final List<HerdWorker> workers = new ArrayList<>();
    private final List<Former> formers = new ArrayList<>();
    private final long boot;
    private final long seed;
    private long slotBytes;
    private boolean detached;
    private boolean closed;

    /** A client that is gone, and the first list without it. */
    private record Former(HerdPeer peer, long version) {}

    /**
     * Listens.
     *
     * @param context concluded
     * @param variant which design it is
     * @param parts of the keys, one for each worker
     * @param ports the transport
     */
    HerdServer(StoreServerContext context, HerdVariant variant, List<? extends HerdPart> parts, HerdPorts ports) {
        this.context = context;
        this.variant = variant;
        boot = context.random().nextLong();
        seed = context.random().nextLong();
        form = form();
        shape = new HerdShape(parts.size(), context.window(), HerdShape.slotLength(form.maxLength()));
        sessions = new ClientSessions<>(2 * context.maxConnections(), serial -> new HerdSession(serial, shape.slots()));
        roster = new HerdRoster(parts.size());
        for (int i = 0; i <= parts.size(); i++) {
            counters.add(new StoreCounters()); // of each worker, and of the port
        }
        try {
            port = ports.listen(shape, counters);
        } catch (VerbsException e) {
            throw new StoreException("no server at " + context.address() + ": " + e.getMessage(), e);
        }
        for (int worker = 0; worker < parts.size(); worker++) {
            workers.add(new HerdWorker(
                    worker,
                    variant.name() + "-worker-" + worker,
                    shape,
                    parts.get(worker),
                    form(),
                    roster,
                    port,
                    context,
                    counters.get(worker)));
        }
    }

    private HerdRequestForm form() {
        return HerdForms.of(variant.protocol(), context.maxKeyLength(), context.maxValueLength(), seed);
    }

    @Override
    public InetSocketAddress address() {
        return port.address();
    }

    @Override
    public String roleName() {
        return variant.name() + "-server";
    }

    /**
     * Index and data count as registered memory, although clients do not READ them. An estimate while workers change them on
     * threads of their own.
     */
    @Override
    public SpaceUse space() {
        long pairs = 0;
        long data = 0;
        long used = 0;
        long all = slotBytes;
        for (HerdWorker worker : workers) {
            pairs += worker.part().pairs();
            data += worker.part().dataBytes();
            used += worker.part().usedBytes();
            all += worker.part().allBytes();
        }
        return new SpaceUse(pairs, data, used, all);
    }

    /** The sum of all workers' and the port's. */
    StoreCounters counters() {
        StoreCounters sum = new StoreCounters();
        counters.forEach(sum::add);
        return sum;
    }

    /** Changes that were executed. */
    long changes() {
        return workers.stream().mapToLong(HerdWorker::changes).sum();
    }

    @Override
    public List<Agent> detachWorkers() {
        if (!port.hasThreads()) {
            return List.of();
        }
        detached = true;
        return List.copyOf(workers);
    }

    @Override
    public int doWork() {
        int work = port.poll(this);
        for (int w = 0; w < workers.size() && !detached; w++) {
            work += workers.get(w).doWork();
        }
        return work + dropCondemned() + releaseFormers();
    }

    private int dropCondemned() {
        int dropped = 0;
        for (HerdSeat seat : roster.seats()) {
            if (seat.isCondemned()) {
                seat.peer().drop();
                dropped++;
            }
        }
        return dropped;
    }

    private int releaseFormers() {
        int released = 0;
        while (!formers.isEmpty() && roster.areAllPast(formers.getFirst().version)) {
            formers.removeFirst().peer.release();
            released++;
        }
        return released;
    }

    // ---- clients

    @Override
    public HerdWelcome arrives(HerdPeer peer, long client, RemoteRegion slots) {
        for (HerdSeat seat : roster.seats()) {
            if (seat.client() == client) {
                seat.peer().drop(); // each worker forgets its slots before it sees the new ones
            }
        }
        HerdSession session = sessions.of(client);
        long nowNs = context.nanoClock().nanoTime();
        session.connected(true, nowNs);
        roster.add(new HerdSeat(peer, client, session, shape, nowNs));
        slotBytes += slots.length();
        return new HerdWelcome(
                shape,
                form.isNumbered(),
                variant.answers() == HerdAnswers.WRITTEN,
                context.maxKeyLength(),
                context.maxValueLength(),
                session.serial(),
                boot,
                seed,
                slots);
    }

    @Override
    public void left(HerdPeer peer) {
        for (HerdSeat seat : roster.seats()) {
            if (seat.peer() == peer) {
                seat.session().connected(false, context.nanoClock().nanoTime());
                slotBytes -= shape.length();
                formers.add(new Former(peer, roster.remove(seat)));
            }
        }
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            port.close();
        }
    }
}
