package org.softrdma.stores.herd.transport;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.agrona.CloseHelper;
import org.agrona.collections.Int2ObjectHashMap;
import org.jspecify.annotations.Nullable;
import org.softrdma.stores.StoreCounters;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.stores.connection.ClientListener;
import org.softrdma.stores.connection.OpenParts;
import org.softrdma.stores.herd.wire.HerdShape;
import org.softrdma.stores.herd.wire.HerdWrittenAnswer;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.device.VerbsDevice;

/** Reliable connections to clients, all on one completion queue. */
public final class RcPort implements HerdPort {
    private static final int BATCH = 64;

    private final StoreServerContext context;
    private final ProtectionDomain domain;
    private final CompletionQueue completions;
    private final OpenParts opened = new OpenParts();
    private final ClientListener listener;
    private final boolean threads;
    private final RcPeer.Common common;
    private final Int2ObjectHashMap<RcPeer> peers = new Int2ObjectHashMap<>();
    private final List<RcPeer> ended = new ArrayList<>();
    private final WorkCompletion[] batch = WorkCompletion.array(BATCH);
    private @Nullable HerdHost told;
    private int lastSerial;
    private boolean closed;

    /**
     * Listens.
     *
     * @param device on which it is
     * @param context concluded
     * @param shape of a client's slots
     * @param answers how they go
     * @param polled true for slots in memory that the device writes in order for who polls it
     * @param counters of each worker, and behind them the port's own
     * @throws VerbsException if it cannot
     * @throws IllegalArgumentException if a client's memory, at either end, would have 2^31 bytes or more
     */
    public RcPort(
            VerbsDevice device,
            StoreServerContext context,
            HerdShape shape,
            HerdAnswers answers,
            boolean polled,
            List<StoreCounters> counters) {
        this.context = context;
        requireFits(context, shape, answers);
        try {
            domain = opened.add(device.allocateProtectionDomain());
            completions = opened.add(device.createCompletionQueue(mostPeers() * RcPeer.completions(shape)));
            listener = new ClientListener(device, context.address(), this::accept);
        } catch (RuntimeException e) {
            opened.close();
            throw e;
        }
        threads = !device.manualProgress();
        common = new RcPeer.Common(
                device,
                domain,
                completions,
                context,
                shape,
                answers,
                polled,
                Stream.generate(() -> new HerdWrittenAnswer(0))
                        .limit(shape.workers())
                        .toList(),
                counters,
                this::drop,
                this::release);
    }

    /** Clients, and some that have ended, whose memory a slow worker still holds. */
    private int mostPeers() {
        return HerdPeer.mostHeld(context.maxConnections());
    }

    private static void requireFits(StoreServerContext context, HerdShape shape, HerdAnswers answers) {
        boolean written = answers == HerdAnswers.WRITTEN;
        int longest = written ? RcWriteChannel.answerLength(context.maxValueLength()) : RcSendPeer.longest(context);
        long most = Math.max(RcPeer.messagesLength(shape, longest), written ? (long) shape.slots() * longest : 0);
        if (most > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("window=" + shape.window() + " and maxValueLength="
                    + context.maxValueLength() + " need " + most + " bytes a connection: expected less than 2^31");
        }
    }

    @Override
    public InetSocketAddress address() {
        return listener.address();
    }

    @Override
    public boolean hasThreads() {
        return threads;
    }

    /** What has completed, the server's thread tells the workers. */
    @Override
    public void turn(int worker, long nowNs) {
        // Nothing is due.
    }

    @Override
    public int poll(HerdHost host) {
        told = host;
        int work =
                listener.accept(peers.size() < context.maxConnections() && peers.size() + ended.size() < mostPeers());
        int count = completions.poll(batch);
        for (int i = 0; i < count; i++) {
            take(batch[i], host);
        }
        return work + count;
    }

    private void accept(ConnectionRequest request) {
        int serial = ++lastSerial;
        peers.put(serial, newPeer(serial, request));
    }

    private RcPeer newPeer(int serial, ConnectionRequest request) {
        return common.answers() == HerdAnswers.SENT
                ? new RcSendPeer(serial, request, common)
                : new RcWritePeer(serial, request, common);
    }

    private void take(WorkCompletion completion, HerdHost host) {
        RcPeer peer = peers.get(RcPeer.serial(completion.wrId()));
        if (peer == null) {
            return; // it was dropped in this round
        }
        if (!completion.isSuccess()) {
            drop(peer);
        } else if (!RcPeer.isMessage(completion.wrId())) {
            peer.completed(completion.wrId());
        } else if (peer.isGreeted()) {
            if (!peer.told(completion.byteLength())) {
                drop(peer);
            }
        } else if (peer.isHelloValid(completion.byteLength())) {
            peer.welcome(host.arrives(peer, peer.client(), peer.remoteSlots()));
        } else {
            drop(peer);
        }
    }

    private void drop(RcPeer peer) {
        if (!peer.isOpen()) {
            return;
        }
        peers.remove(peer.serial());
        HerdHost host = told;
        if (peer.isGreeted() && host != null) {
            peer.end();
            ended.add(peer);
            host.left(peer);
        } else {
            peer.close(); // no worker knows it
        }
    }

    private void release(RcPeer peer) {
        ended.remove(peer);
        peer.close();
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            listener.close();
            CloseHelper.closeAll(peers.values());
            CloseHelper.closeAll(ended);
            opened.close();
        }
    }
}
