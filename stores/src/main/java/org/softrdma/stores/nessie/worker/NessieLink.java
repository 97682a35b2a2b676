package org.softrdma.stores.nessie.worker;

import java.net.InetSocketAddress;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreException;
import org.softrdma.stores.connection.Greeting;
import org.softrdma.stores.nessie.layout.NessieMessageDescriptor;
import org.softrdma.stores.nessie.layout.NessieRoots;
import org.softrdma.stores.nessie.layout.NessieRootsDescriptor;
import org.softrdma.stores.nessie.layout.NessieShape;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A worker's connection to a node, from the node's welcome on. Its send queue has room for all that a window of
 * operations may post. Owned by the worker's thread, which closes it; then the device touches no buffer any more.
 */
final class NessieLink implements AutoCloseable {
    /** What a completion is of: the upper half of a wrId. */
    static final int OPERATION = 1;

    static final int SEND = 2;
    static final int RECEIVE = 3;

    private final NessieBuffers buffers;
    private final int node;
    private final QueuePair queuePair;
    private final NessieRoots roots;

    /**
     * Connects, and waits for the welcome.
     *
     * @throws org.softrdma.verbs.VerbsException if there is no connection in time
     * @throws StoreException if the node does not welcome the worker, or in no time
     */
    NessieLink(
            VerbsDevice device,
            ProtectionDomain domain,
            CompletionQueue completions,
            NessieBuffers buffers,
            StoreClientContext context,
            int operations,
            int node) {
        this.buffers = buffers;
        this.node = node;
        InetSocketAddress server = context.servers().get(node);
        long deadlineNs = context.nanoClock().nanoTime() + context.connectTimeoutNs();
        queuePair = Greeting.connect(
                device,
                domain,
                QueuePairAttributes.of(completions, QueuePairLimits.of(sends(operations), 1)),
                context,
                server,
                this::postReceive);
        try {
            request(NessieMessageDescriptor.HELLO, 0);
            roots = Greeting.await(
                    completions,
                    context,
                    deadlineNs,
                    one -> kind(one.wrId()) == RECEIVE ? welcome(one.byteLength(), context) : null);
        } catch (RuntimeException e) {
            queuePair.close();
            throw e;
        }
    }

    /** Requests of the send queue: all that one batch of every operation posts, and a message. */
    private static int sends(int operations) {
        return operations * (Math.max(NessieBuffers.WORDS, NessieOperation.MOST_REMOVED) + 2) + 1;
    }

    /** Most completions that nobody has polled. */
    static int completions(int operations) {
        return sends(operations) + 1;
    }

    private NessieRoots welcome(long length, StoreClientContext context) {
        int reply = buffers.replyAt(node);
        if (!NessieMessageDescriptor.isReply(buffers.segment(), reply, length, NessieMessageDescriptor.HELLO)) {
            throw new StoreException("not a Nessie server: its reply to HELLO is malformed");
        }
        NessieRoots told = NessieRootsDescriptor.get(buffers.segment(), reply + (long) NessieMessageDescriptor.LENGTH);
        check(told, context);
        postReceive();
        return told;
    }

    private void check(NessieRoots told, StoreClientContext context) {
        NessieShape shape = told.shape();
        Greeting.requireLengths(context, shape.maxKeyLength(), shape.maxValueLength());
        if (told.node() != node || shape.nodes() != context.servers().size()) {
            throw new StoreException("server " + node + " of "
                    + context.servers().size() + " calls itself node " + told.node() + " of " + shape.nodes());
        }
        boolean safe = context.protocol() == Protocol.SAFE;
        if (shape.safe() != safe) {
            throw new StoreException("client and server must run the same protocol");
        }
    }

    NessieRoots roots() {
        return roots;
    }

    static long wrId(int kind, int index) {
        return (long) kind << Integer.SIZE | index;
    }

    static int kind(long wrId) {
        return (int) (wrId >>> Integer.SIZE);
    }

    static int index(long wrId) {
        return (int) wrId;
    }

    // ---- posting

    void read(int operation, int at, int length, long address, int rkey) {
        Greeting.requireAccepted(queuePair.postRead(
                wrId(OPERATION, operation), buffers.region(), at, length, address, rkey, SendFlags.SIGNALLED));
    }

    void write(int operation, int at, int length, long address, int rkey) {
        Greeting.requireAccepted(queuePair.postWrite(
                wrId(OPERATION, operation), buffers.region(), at, length, address, rkey, SendFlags.SIGNALLED));
    }

    void compareAndSwap(int operation, int at, long address, int rkey, long expected, long replacement) {
        Greeting.requireAccepted(queuePair.postCompareAndSwap(
                wrId(OPERATION, operation),
                buffers.region(),
                at,
                address,
                rkey,
                expected,
                replacement,
                SendFlags.SIGNALLED));
    }

    void fetch(int operation, int at, long address, int rkey) {
        Greeting.requireAccepted(queuePair.postFetchAndAdd(
                wrId(OPERATION, operation), buffers.region(), at, address, rkey, 0, SendFlags.SIGNALLED));
    }

    /** Sends a request. */
    void request(int kind, int count) {
        int at = buffers.requestAt(node);
        NessieMessageDescriptor.put(buffers.segment(), at, kind, count);
        Greeting.requireAccepted(queuePair.postSend(
                wrId(SEND, node), buffers.region(), at, NessieMessageDescriptor.LENGTH, SendFlags.SIGNALLED));
    }

    /** The reply was looked at. */
    void postReceive() {
        postReceive(queuePair);
    }

    private void postReceive(QueuePair pair) {
        Greeting.requireAccepted(pair.postReceive(
                wrId(RECEIVE, node), buffers.region(), buffers.replyAt(node), NessieMessageDescriptor.REPLY_LENGTH));
    }

    @Override
    public void close() {
        queuePair.close();
    }
}
