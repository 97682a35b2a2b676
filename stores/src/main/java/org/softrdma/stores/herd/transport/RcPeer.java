package org.softrdma.stores.herd.transport;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.EnumSet;
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
 * goes with it, so no WRITE of an earlier connection can come late. Answers lie in a ring of buffers; where the next one
 * is not free, a request waits in its slot.
 */
abstract class RcPeer implements HerdPeer, AutoCloseable {
    private static final int ANSWERS_PER_SLOT = 2;
    private static final int RECEIVE = 1 << 30;
    private static final int MOST_MESSAGE = Math.max(HerdHelloDescriptor.LENGTH, HerdAnswersDescriptor.LENGTH);

    private final int serial;
    private final HerdShape shape;
    private final StoreCounters counters;
    private final Consumer<RcPeer> dropping;
    private final HerdSends sends;
    private final RegisteredMemory slots;
    private final RegisteredMemory replies;
    private final int replyLength;
    private final QueuePair queuePair;
    private final long[] sent;
    private int next;
    private boolean greeted;
    private boolean open = true;

    /** What all peers of a port have in common. */
    record Common(
            VerbsDevice device,
            ProtectionDomain domain,
            CompletionQueue completions,
            StoreServerContext context,
            HerdShape shape,
            HerdAnswers answers,
            boolean polled,
            HerdWrittenAnswer seals,
            StoreCounters counters) {}

    /**
     * Accepts a client.
     *
     * @param longest bytes of the longest answer, with all that goes with it
     */
    RcPeer(int serial, ConnectionRequest request, Common common, Consumer<RcPeer> dropping, int longest) {
        this.serial = serial;
        this.dropping = dropping;
        shape = common.shape();
        counters = common.counters();
        int capacity = capacity(shape.window());
        int inline =
                Math.min(HerdSends.MOST_INLINE, common.device().capabilities().maxInline());
        sends = new HerdSends(capacity, inline);
        sent = new long[capacity];
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
                    messagesLength(shape.window(), longest),
                    Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.RECEIVE_SINK));
            replies = answers;
            pair = request.createQueuePair(
                    common.domain(),
                    QueuePairAttributes.of(common.completions(), new QueuePairLimits(capacity, 1, 1, 1, inline)));
            queuePair = pair;
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

    private static int capacity(int window) {
        return ANSWERS_PER_SLOT * window + 2;
    }

    private static int replyLength(int longest) {
        return HerdShape.slotLength(Math.max(longest, HerdWelcomeDescriptor.LENGTH));
    }

    /**
     * Bytes of the memory of a peer's messages.
     *
     * @param longest bytes of the longest answer, with all that goes with it
     */
    static long messagesLength(int window, int longest) {
        return (capacity(window) + 1L) * replyLength(longest);
    }

    /** Most completions of a peer that nobody has polled. */
    static int completions(int window) {
        return HerdSends.completions(capacity(window)) + 1;
    }

    static int serial(long wrId) {
        return (int) (wrId >>> Integer.SIZE);
    }

    static boolean isMessage(long wrId) {
        return (wrId & RECEIVE) != 0;
    }

    int serial() {
        return serial;
    }

    boolean isGreeted() {
        return greeted;
    }

    // ---- the first messages

    /**
     * Posts a RECV for a message of the client. There is always one: where a client leaves with nothing on its way, the
     * failure of the RECV is all that tells.
     */
    protected final void expectMessage() {
        PostStatus status = queuePair.postReceive(
                (long) serial << Integer.SIZE | RECEIVE, replies.region(), messageAt(), MOST_MESSAGE);
        if (status != PostStatus.ACCEPTED) {
            throw new IllegalStateException(status + ": the queue has room for one RECV");
        }
    }

    /** Where a message of the client is. */
    protected final long messageAt() {
        return (long) sent.length * replyLength;
    }

    final boolean isHelloValid(long length) {
        return HerdHelloDescriptor.isValid(replies.segment(), messageAt(), length);
    }

    final long client() {
        return HerdHelloDescriptor.client(replies.segment(), messageAt());
    }

    final RemoteRegion remoteSlots() {
        return slots.region().remote();
    }

    /** Answers the client's first message. */
    final void welcome(HerdWelcome welcome) {
        greeted = true;
        expectMessage(); // else nobody hears when the client leaves
        HerdWelcomeDescriptor.put(replies.segment(), nextReply(), welcome);
        sendReply(HerdWelcomeDescriptor.LENGTH);
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
    public final boolean isOpen() {
        return open;
    }

    @Override
    public boolean hasRoom() {
        return !sends.isFull() && sends.isDone(sent[next]);
    }

    @Override
    public final MemorySegment replies() {
        return replies.segment();
    }

    @Override
    public final long nextReply() {
        return (long) next * replyLength;
    }

    /** SENDs the next answer. */
    protected final void sendReply(int length) {
        int flags = sends.flags(length, false);
        PostStatus status = queuePair.postSend(wrId(), replies.region(), nextReply(), length, flags);
        posted(status, flags, length);
        counters.increment(StoreCounter.SENDS);
    }

    /**
     * WRITEs the next answer.
     *
     * @param length its bytes
     * @param address where to
     * @param rkey of the client's memory
     */
    protected final void writeReply(int length, long address, int rkey) {
        int flags = sends.flags(length, false);
        PostStatus status = queuePair.postWrite(wrId(), replies.region(), nextReply(), length, address, rkey, flags);
        posted(status, flags, length);
        counters.increment(StoreCounter.WRITES);
    }

    private long wrId() {
        return (long) serial << Integer.SIZE | sends.nextSequence();
    }

    private void posted(PostStatus status, int flags, int length) {
        long number = sends.posted(status, flags);
        if (!sends.fitsInline(length)) {
            sent[next] = number;
            next = (next + 1) % sent.length;
        }
    }

    /** The memory of answers as a buffer. */
    protected final ByteBuffer repliesView() {
        return replies.view();
    }

    void completed(long wrId) {
        sends.completed(wrId);
    }

    @Override
    public final void drop() {
        dropping.accept(this);
    }

    @Override
    public final void close() {
        if (open) {
            open = false;
            CloseHelper.closeAll(queuePair, slots, replies); // the device touches neither once the queue pair is closed
        }
    }
}
