package org.softrdma.stores.herd.transport;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.agrona.CloseHelper;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.StoreCounters;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.stores.connection.RegisteredMemory;
import org.softrdma.stores.herd.wire.HerdAnswersDescriptor;
import org.softrdma.stores.herd.wire.HerdHelloDescriptor;
import org.softrdma.stores.herd.wire.HerdShape;
import org.softrdma.stores.herd.wire.HerdWelcome;
import org.softrdma.stores.herd.wire.HerdWelcomeDescriptor;
import org.softrdma.stores.herd.wire.HerdWrittenAnswer;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A client's reliable connection at the server, but for the way of the answers. The region of its slots is its own and
 * goes with it, so no WRITE of an earlier connection can come late. Each worker has a ring of buffers for its answers;
 * where the next one is not free, a request waits in its slot. All workers post to the one queue pair.
 */
abstract class RcPeer implements HerdPeer, AutoCloseable {
    private static final int ANSWERS_PER_SLOT = 2;
    private static final int LEAST_ANSWERS = 8;
    private static final int OWN_SENDS = 2;
    private static final int MOST_MESSAGE = Math.max(HerdHelloDescriptor.LENGTH, HerdAnswersDescriptor.LENGTH);

    /** In a wrId, above the sequence: the worker, or one behind the last of them; RECVs; and the peer. */
    private static final int WORKER_SHIFT = 24;

    private static final int WORKER_MASK = 0x1FF;
    private static final int RECEIVE_SHIFT = 33;
    private static final int SERIAL_SHIFT = RECEIVE_SHIFT + 1;

    private final int serial;
    private final Common common;
    private final HerdSends ownSends;
    private final RegisteredMemory slots;
    private final RegisteredMemory messages;
    private final int replyLength;
    private final QueuePair queuePair;
    private final RcReplies[] replies;
    private boolean greeted;
    private boolean open = true;
    private boolean released;

    /**
     * What all peers of a port have in common.
     *
     * @param answers how they go
     * @param polled true for slots in memory that the device writes in order for who polls it
     * @param seals of answers that are WRITTEN, one for each worker
     * @param counters of each worker, and the port's own
     * @param dropping ends a peer
     * @param releasing frees the memory of one that has ended
     */
    record Common(
            VerbsDevice device,
            ProtectionDomain domain,
            CompletionQueue completions,
            StoreServerContext context,
            HerdShape shape,
            HerdAnswers answers,
            boolean polled,
            List<HerdWrittenAnswer> seals,
            List<StoreCounters> counters,
            Consumer<RcPeer> dropping,
            Consumer<RcPeer> releasing) {}

    /** Makes the answers of a worker. */
    @FunctionalInterface
    interface RepliesMaker {
        /**
         * Makes them.
         *
         * @param worker its number
         * @param ring in which they lie
         * @param view the memory of the ring, this worker's own view
         */
        RcReplies make(int worker, ReplyRing ring, ByteBuffer view);
    }

    /**
     * Accepts a client.
     *
     * @param longest bytes of the longest answer, with all that goes with it
     * @param maker of the answers of each worker
     */
    RcPeer(int serial, ConnectionRequest request, Common common, int longest, RepliesMaker maker) {
        this.serial = serial;
        this.common = common;
        HerdShape shape = common.shape();
        int capacity = capacity(shape);
        int inline =
                Math.min(HerdSends.MOST_INLINE, common.device().capabilities().maxInline());
        ownSends = new HerdSends(OWN_SENDS, inline);
        replyLength = replyLength(longest);
        RegisteredMemory written = null;
        RegisteredMemory answers = null;
        QueuePair pair = null;
        try {
            written =
                    new RegisteredMemory(common.device(), common.domain(), shape.length(), slotAccess(common.polled()));
            slots = written;
            answers = new RegisteredMemory(
                    common.device(),
                    common.domain(),
                    messagesLength(shape, longest),
                    Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.RECEIVE_SINK));
            messages = answers;
            pair = request.createQueuePair(
                    common.domain(),
                    QueuePairAttributes.of(
                            common.completions(),
                            new QueuePairLimits(shape.workers() * capacity + OWN_SENDS, 1, 1, 1, inline)));
            queuePair = pair;
            replies = new RcReplies[shape.workers()];
            for (int worker = 0; worker < replies.length; worker++) {
                long begin = (long) worker * capacity * replyLength;
                ReplyRing ring = new ReplyRing(pair, answers, begin, replyLength, capacity, inline, kind(worker));
                replies[worker] = maker.make(worker, ring, answers.view().duplicate());
            }
            expectMessage();
            request.accept(new ConnectionParameters(0, 0, new byte[0]));
        } catch (RuntimeException e) {
            CloseHelper.closeAll(pair, written, answers);
            throw e;
        }
    }

    private static Set<AccessFlag> slotAccess(boolean polled) {
        Set<AccessFlag> access = EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        if (polled) {
            access.add(AccessFlag.POLLED);
        }
        return access;
    }

    /** Answers of a worker that may be on their way: all, with one worker; and not much more in the sum of many. */
    private static int capacity(HerdShape shape) {
        int all = ANSWERS_PER_SLOT * shape.window() + 2;
        return Math.max(LEAST_ANSWERS, Math.ceilDiv(2 * all, shape.workers() + 1));
    }

    private static int replyLength(int longest) {
        return HerdShape.slotLength(Math.max(longest, HerdWelcomeDescriptor.LENGTH));
    }

    /**
     * Bytes of the memory of a peer's messages.
     *
     * @param longest bytes of the longest answer, with all that goes with it
     */
    static long messagesLength(HerdShape shape, int longest) {
        return ((long) shape.workers() * capacity(shape) + 2) * replyLength(longest);
    }

    /** Most completions of a peer that nobody has polled. */
    static int completions(HerdShape shape) {
        return shape.workers() * HerdSends.completions(capacity(shape)) + OWN_SENDS + 1;
    }

    private long kind(int worker) {
        return (long) serial << SERIAL_SHIFT | (long) worker << WORKER_SHIFT;
    }

    static int serial(long wrId) {
        return (int) (wrId >>> SERIAL_SHIFT);
    }

    static boolean isMessage(long wrId) {
        return (wrId >>> RECEIVE_SHIFT & 1) != 0;
    }

    int serial() {
        return serial;
    }

    boolean isGreeted() {
        return greeted;
    }

    /** What all peers of its port have in common. */
    final Common common() {
        return common;
    }

    // ---- the first messages

    /**
     * Posts a RECV for a message of the client. There is always one: where a client leaves with nothing on its way, the
     * failure of the RECV is all that tells.
     */
    protected final void expectMessage() {
        PostStatus status =
                queuePair.postReceive(kind(0) | 1L << RECEIVE_SHIFT, messages.region(), messageAt(), MOST_MESSAGE);
        if (status != PostStatus.ACCEPTED) {
            throw new IllegalStateException(status + ": the queue has room for one RECV");
        }
    }

    /** Where a message of the client is: behind the answers of all workers. */
    protected final long messageAt() {
        return (long) replies.length * capacity(common.shape()) * replyLength;
    }

    private long welcomeAt() {
        return messageAt() + replyLength;
    }

    /** The memory of messages. */
    protected final MemorySegment messages() {
        return messages.segment();
    }

    final boolean isHelloValid(long length) {
        return HerdHelloDescriptor.isValid(messages(), messageAt(), length);
    }

    final long client() {
        return HerdHelloDescriptor.client(messages(), messageAt());
    }

    final RemoteRegion remoteSlots() {
        return slots.region().remote();
    }

    /** Answers the client's first message. */
    final void welcome(HerdWelcome welcome) {
        greeted = true;
        expectMessage(); // else nobody hears when the client leaves
        HerdWelcomeDescriptor.put(messages(), welcomeAt(), welcome);
        int flags = ownSends.flags(HerdWelcomeDescriptor.LENGTH, false);
        PostStatus status = queuePair.postSend(
                kind(replies.length) | ownSends.nextSequence(),
                messages.region(),
                welcomeAt(),
                HerdWelcomeDescriptor.LENGTH,
                flags);
        long ignored = ownSends.posted(status, flags);
        common.counters().getLast().increment(StoreCounter.SENDS);
    }

    /**
     * A message has come after the first one.
     *
     * @param length its bytes
     * @return false if the client must not send it
     */
    abstract boolean told(long length);

    // ---- answers

    @Override
    public final MemorySegment slots() {
        return slots.segment();
    }

    @Override
    public final HerdReplies replies(int worker) {
        return replies[worker];
    }

    @Override
    public final boolean isOpen() {
        return open;
    }

    void completed(long wrId) {
        int worker = (int) (wrId >>> WORKER_SHIFT) & WORKER_MASK;
        if (worker < replies.length) {
            replies[worker].ring().completed(wrId);
        } else {
            ownSends.completed(wrId);
        }
    }

    @Override
    public final void drop() {
        common.dropping().accept(this);
    }

    /** Ends the connection. Workers may still answer: nobody hears them. */
    final void end() {
        if (open) {
            open = false;
            queuePair.disconnect();
        }
    }

    @Override
    public final void release() {
        common.releasing().accept(this);
    }

    @Override
    public final void close() {
        if (!released) {
            released = true;
            open = false;
            CloseHelper.closeAll(
                    queuePair, slots, messages); // the device touches neither once the queue pair is closed
        }
    }
}
