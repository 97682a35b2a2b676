package org.softrdma.stores.nessie.node;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.softrdma.stores.connection.Greeting;
import org.softrdma.stores.connection.RegisteredMemory;
import org.softrdma.stores.nessie.layout.NessieMessageDescriptor;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A worker's connection at a node. The worker has one request on its way, so there is one buffer of a request, posted
 * as a RECV, and one of a reply. The next request may be seen before the SEND of the last reply has completed; then
 * it waits. Owned by the node's thread.
 */
final class NessieConnection implements AutoCloseable {
    /** Most completions of a connection that nobody has polled. */
    static final int COMPLETIONS = 2;

    private static final int MOST_READS = 16;
    private static final int REQUEST_AT = 0;
    private static final int REPLY_AT = NessieMessageDescriptor.LENGTH;
    private static final long REPLY = 1L << 32;

    private final int serial;
    private final RegisteredMemory memory;
    private final QueuePair queuePair;
    private boolean replying;
    private int waiting;

    /** Accepts a worker. */
    NessieConnection(
            int serial,
            ConnectionRequest request,
            VerbsDevice device,
            ProtectionDomain domain,
            CompletionQueue completions) {
        this.serial = serial;
        memory = new RegisteredMemory(
                device,
                domain,
                REPLY_AT + NessieMessageDescriptor.REPLY_LENGTH,
                Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.RECEIVE_SINK));
        try {
            queuePair = request.createQueuePair(domain, QueuePairAttributes.of(completions, QueuePairLimits.of(1, 1)));
        } catch (RuntimeException e) {
            memory.close();
            throw e;
        }
        try {
            postReceive();
            int reads = Math.min(MOST_READS, device.capabilities().maxInboundReads());
            request.accept(new ConnectionParameters(0, reads, new byte[0]));
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    static int serial(long wrId) {
        return (int) wrId;
    }

    static boolean isReply(long wrId) {
        return (wrId & REPLY) != 0;
    }

    int serial() {
        return serial;
    }

    MemorySegment segment() {
        return memory.segment();
    }

    int requestAt() {
        return REQUEST_AT;
    }

    int replyAt() {
        return REPLY_AT;
    }

    /** The buffer of the reply is in use. */
    boolean isReplying() {
        return replying;
    }

    /** A request of so many bytes has to wait for it. */
    void defer(int length) {
        waiting = length;
    }

    /** The SEND of the reply has completed; returns the length of the request that waits, or 0. */
    int replyDone() {
        replying = false;
        int length = waiting;
        waiting = 0;
        return length;
    }

    private void postReceive() {
        Greeting.requireAccepted(
                queuePair.postReceive(serial, memory.region(), REQUEST_AT, NessieMessageDescriptor.LENGTH));
    }

    /** Answers; the request's buffer is free from now on. */
    void reply(int length) {
        replying = true;
        postReceive();
        Greeting.requireAccepted(
                queuePair.postSend(REPLY | serial, memory.region(), REPLY_AT, length, SendFlags.SIGNALLED));
    }

    @Override
    public void close() {
        queuePair.close(); // the device touches no buffer from here on
        memory.close();
    }
}
