package org.softrdma.stores.pilaf;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.stores.connection.Greeting;
import org.softrdma.stores.connection.RegisteredMemory;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A client's connection at the server: buffers of requests, each posted as a RECV unless it is looked at, and of
 * replies, each in use until its SEND completes. A client has as many requests on their way as there are RECVs, so it
 * may ask again as soon as it has an answer: the RECV is posted before the answer goes. But completions of RECVs may
 * come before those of SENDs, so a request may have to wait for a reply's buffer. Owned by the server's thread.
 */
final class PilafConnection implements AutoCloseable {
    private static final int MOST_READS = 16;
    private static final long REPLY = 1L << 31;

    private final int serial;
    private final int window;
    private final int requestLength;
    private final int replyLength;
    private final RegisteredMemory memory;
    private final QueuePair queuePair;
    private final int[] freeReplies;
    private int freeReplyCount;
    private final int[] waitingSlots;
    private final int[] waitingLengths;
    private int firstWaiting;
    private int waiting;
    private @Nullable PilafSession session;
    private long client;
    private boolean open = true;

    /** Accepts a client. */
    PilafConnection(
            int serial,
            ConnectionRequest request,
            VerbsDevice device,
            ProtectionDomain domain,
            CompletionQueue completions,
            StoreServerContext context) {
        this.serial = serial;
        window = context.window();
        requestLength = requestLength(context.maxKeyLength(), context.maxValueLength());
        replyLength = replyLength(context.maxValueLength());
        int replies = 2 * window;
        freeReplies = new int[replies];
        waitingSlots = new int[window];
        waitingLengths = new int[window];
        memory = new RegisteredMemory(
                device, domain, memoryLength(context), Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.RECEIVE_SINK));
        try {
            queuePair = request.createQueuePair(
                    domain, QueuePairAttributes.of(completions, QueuePairLimits.of(replies, window)));
        } catch (RuntimeException e) {
            memory.close();
            throw e;
        }
        try {
            for (int slot = 0; slot < window; slot++) {
                postReceive(slot);
            }
            for (int reply = 0; reply < replies; reply++) {
                freeReplies[freeReplyCount++] = reply;
            }
            int reads = Math.min(MOST_READS, device.capabilities().maxInboundReads());
            request.accept(new ConnectionParameters(0, reads, new byte[0]));
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    /**
     * Bytes of a connection's memory.
     *
     * @throws IllegalArgumentException if offsets in it would not be ints
     */
    static int memoryLength(StoreServerContext context) {
        long replies = 2L * context.window() * replyLength(context.maxValueLength());
        long length =
                (long) context.window() * requestLength(context.maxKeyLength(), context.maxValueLength()) + replies;
        if (length > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("window=" + context.window() + " and maxValueLength="
                    + context.maxValueLength() + " need " + length + " bytes a connection: expected less than 2^31");
        }
        return (int) length;
    }

    /** Bytes of the longest request. */
    static int requestLength(int maxKeyLength, int maxValueLength) {
        return aligned(Math.max(
                PilafRequestDescriptor.HELLO_LENGTH, PilafRequestDescriptor.length(maxKeyLength, maxValueLength)));
    }

    /** Bytes of the longest reply. */
    static int replyLength(int maxValueLength) {
        return aligned(PilafReplyDescriptor.VALUE_OFFSET + Math.max(maxValueLength, PilafRootsDescriptor.LENGTH));
    }

    static int aligned(int length) {
        return length + Long.BYTES - 1 & -Long.BYTES;
    }

    /** Most completions of a connection that nobody has polled. */
    static int completions(int window) {
        return 3 * window;
    }

    // ---- wrId: serial of the connection, whether it is a reply's, the slot

    static int serial(long wrId) {
        return (int) (wrId >>> Integer.SIZE);
    }

    static boolean isReply(long wrId) {
        return (wrId & REPLY) != 0;
    }

    static int slot(long wrId) {
        return (int) (wrId & REPLY - 1);
    }

    int serial() {
        return serial;
    }

    boolean isOpen() {
        return open;
    }

    MemorySegment segment() {
        return memory.segment();
    }

    // ---- the client

    @Nullable
    PilafSession session() {
        return session;
    }

    long client() {
        return client;
    }

    void isOf(long newClient, PilafSession newSession) {
        client = newClient;
        session = newSession;
    }

    // ---- requests

    int requestAt(int slot) {
        return slot * requestLength;
    }

    /** A request waits until a reply's buffer is free. */
    void defer(int slot, int length) {
        int at = (firstWaiting + waiting++) % window;
        waitingSlots[at] = slot;
        waitingLengths[at] = length;
    }

    /** True if a request waits, and can be served now. */
    boolean isReady() {
        return waiting > 0 && freeReplyCount > 0;
    }

    boolean mustWait() {
        return waiting > 0 || freeReplyCount == 0;
    }

    int waitingSlot() {
        return waitingSlots[firstWaiting];
    }

    /** Takes the request that has waited longest; returns its length. */
    int takeWaiting() {
        int length = waitingLengths[firstWaiting];
        firstWaiting = (firstWaiting + 1) % window;
        waiting--;
        return length;
    }

    /** The request was looked at. */
    void postReceive(int slot) {
        PostStatus status = queuePair.postReceive(wrId(slot), memory.region(), requestAt(slot), requestLength);
        Greeting.requireAccepted(status);
    }

    // ---- replies

    int replyAt(int reply) {
        return window * requestLength + reply * replyLength;
    }

    int takeReply() {
        return freeReplies[--freeReplyCount];
    }

    void send(int reply, int length) {
        PostStatus status =
                queuePair.postSend(wrId(reply) | REPLY, memory.region(), replyAt(reply), length, SendFlags.SIGNALLED);
        Greeting.requireAccepted(status);
    }

    /** The SEND of a reply has completed. */
    void replyDone(int reply) {
        freeReplies[freeReplyCount++] = reply;
    }

    private long wrId(int slot) {
        return (long) serial << Integer.SIZE | slot;
    }

    @Override
    public void close() {
        if (open) {
            open = false;
            queuePair.close(); // the device touches no buffer from here on
            memory.close();
        }
    }
}
