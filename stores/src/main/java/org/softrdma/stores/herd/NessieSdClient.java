package org.softrdma.stores.herd;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.agrona.CloseHelper;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.ResultHandler;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.client.OperationKind;
import org.softrdma.stores.client.PollingStoreClient;
import org.softrdma.stores.hash.SeededHash;
import org.softrdma.stores.herd.transport.HerdAnswers;
import org.softrdma.stores.herd.transport.RcChannels;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A client of NessieSD: one of HERD for each node, and a hash that says which node has a key. Owned by one thread.
 */
final class NessieSdClient extends PollingStoreClient {
    /** Of the hash that chooses the node, which all clients have in common; workers are chosen by another one. */
    private static final long NODE_SEED = 0x6e65_7373_6965_7364L;

    private static final ResultHandler NO_HANDLER = (tag, outcome, memory, offset, length) -> {};

    private final HerdClient[] nodes;
    private final MemorySegment key;
    private final ResultHandler taker = this::take;
    private ResultHandler handler = NO_HANDLER;
    private int turn;

    /**
     * Connects to all nodes.
     *
     * @param polled true for answer slots in memory that the device writes in order for who polls it
     */
    NessieSdClient(VerbsDevice device, StoreClientContext context, HerdVariant variant, boolean polled) {
        super(context);
        key = MemorySegment.ofArray(new byte[context.maxKeyLength()]);
        List<HerdClient> made = new ArrayList<>();
        try {
            for (InetSocketAddress server : context.servers()) {
                made.add(new HerdClient(
                        context,
                        variant,
                        server,
                        counters(),
                        () -> new RcChannels(device, server, HerdAnswers.WRITTEN, polled)));
            }
        } catch (RuntimeException e) {
            CloseHelper.closeAll(made);
            throw e;
        }
        nodes = made.toArray(HerdClient[]::new);
    }

    private HerdClient node(byte[] of) {
        if (nodes.length == 1) {
            return nodes[0];
        }
        MemorySegment.copy(of, 0, key, ValueLayout.JAVA_BYTE, 0, of.length);
        return nodes[node(SeededHash.of(key, 0, of.length, NODE_SEED), nodes.length)];
    }

    /** The node that has the keys with this hash. */
    static int node(long hash, int nodes) {
        return (int) Math.unsignedMultiplyHigh(hash, nodes);
    }

    @Override
    protected boolean start(OperationKind kind, byte[] of, MemorySegment value, long tag) {
        boolean started = mayStart(of, value.byteSize()) && node(of).start(kind, of, value, tag);
        if (started) {
            started(clock().nanoTime() + context().timeoutNs());
        }
        return started;
    }

    @Override
    public int poll(ResultHandler newHandler) {
        pollBegins();
        handler = newHandler;
        for (int node = 0; node < nodes.length && !isClosed(); node++) {
            int ignored = nodes[node].poll(taker, false);
        }
        connectOne();
        handler = NO_HANDLER;
        return delivered();
    }

    /** Lets one node connect that has to, and the next time another one: an attempt takes time, and nodes do not share it. */
    private void connectOne() {
        for (int i = 0; i < nodes.length && !isClosed(); i++) {
            HerdClient node = nodes[(turn + i) % nodes.length];
            if (node.isDisconnected()) {
                turn = (turn + i + 1) % nodes.length;
                int ignored = node.poll(taker, true);
                return;
            }
        }
    }

    private void take(long tag, Outcome outcome, MemorySegment memory, long offset, long length) {
        deliver(handler, tag, outcome, memory, offset, length);
    }

    @Override
    protected void release() {
        CloseHelper.closeAll(nodes);
    }
}
