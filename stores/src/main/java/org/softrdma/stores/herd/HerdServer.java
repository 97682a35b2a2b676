package org.softrdma.stores.herd;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
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
 * The server of HERD, and of what is built like it: lets clients in, and lets its workers take turns at their slots.
 * Owned by the thread of {@link #doWork}.
 */
final class HerdServer implements StoreServer, HerdHost {
    private final StoreServerContext context;
    private final HerdVariant variant;
    private final StoreCounters counters = new StoreCounters();
    private final HerdShape shape;
    private final HerdRequestForm form;
    private final HerdPort port;
    private final ClientSessions<HerdSession> sessions;
    private final List<HerdWorker> workers = new ArrayList<>();
    private final List<HerdSeat> seats = new ArrayList<>();
    private final long boot;
    private final long seed;
    private long slotBytes;
    private boolean someLeft;
    private boolean closed;

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
        form = HerdForms.of(variant.protocol(), context.maxKeyLength(), context.maxValueLength(), seed);
        shape = new HerdShape(parts.size(), context.window(), HerdShape.slotLength(form.maxLength()));
        sessions = new ClientSessions<>(2 * context.maxConnections(), serial -> new HerdSession(serial, shape.slots()));
        for (int worker = 0; worker < parts.size(); worker++) {
            workers.add(new HerdWorker(worker, shape, parts.get(worker), form, context, counters));
        }
        try {
            port = ports.listen(shape, counters);
        } catch (VerbsException e) {
            throw new StoreException("no server at " + context.address() + ": " + e.getMessage(), e);
        }
    }

    @Override
    public InetSocketAddress address() {
        return port.address();
    }

    @Override
    public String roleName() {
        return variant.name() + "-server";
    }

    /** Index and data count as registered memory, although clients do not READ them. */
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

    StoreCounters counters() {
        return counters;
    }

    /** Changes that were executed. */
    long changes() {
        return workers.stream().mapToLong(HerdWorker::changes).sum();
    }

    @Override
    public int doWork() {
        int work = port.poll(this);
        for (int w = 0; w < workers.size(); w++) {
            HerdWorker worker = workers.get(w);
            for (int s = 0; s < seats.size(); s++) {
                work += worker.serve(seats.get(s));
            }
        }
        if (someLeft) {
            someLeft = false;
            seats.removeIf(seat -> !seat.peer().isOpen());
        }
        return work;
    }

    // ---- clients

    @Override
    public HerdWelcome arrives(HerdPeer peer, long client, RemoteRegion slots) {
        for (HerdSeat seat : seats) {
            if (seat.client() == client && seat.peer().isOpen()) {
                seat.peer().drop(); // else what is in its slots might be executed behind what it asks now
            }
        }
        HerdSession session = sessions.of(client);
        session.connected(true, context.nanoClock().nanoTime());
        seats.add(new HerdSeat(peer, client, session, shape.slots()));
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
        someLeft = true;
        for (HerdSeat seat : seats) {
            if (seat.peer() == peer) {
                seat.session().connected(false, context.nanoClock().nanoTime());
                slotBytes -= shape.length();
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
