package org.softrdma.kv.client.rdma;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.CloseStack;
import org.softrdma.kv.message.HelloDescriptor;
import org.softrdma.kv.message.TouchReportDescriptor;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendWorkRequestList;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * The queue pair of a reader and its registered memory: the sink, a place for each slot's item, and the control
 * memory of messages. Allocates nothing per work request. Owned by the thread of its loop.
 *
 * <p>Work request numbers: the member's number in the upper half, then kind, then slot.
 */
public final class ReaderQueuePair implements AutoCloseable {
    /** A READ into a slot of the sink. */
    public static final int READ = 0;

    /** A message of the server, in a slot of the control memory. */
    public static final int RECEIVE = 1;

    /** The SEND of the hello. */
    public static final int HELLO = 2;

    /** The SEND of a touch report. */
    public static final int TOUCH = 3;

    private static final int KIND_SHIFT = 24;
    private static final int SLOT_MASK = (1 << KIND_SHIFT) - 1;
    private static final int CONTROL_SLOT_LENGTH = 64;
    private static final int REPORT_LENGTH =
            (TouchReportDescriptor.MAX_LENGTH + CONTROL_SLOT_LENGTH - 1) / CONTROL_SLOT_LENGTH * CONTROL_SLOT_LENGTH;
    private static final int PAGE = 4096;

    private final MemberLoop loop;
    private final QueueDepth depth;
    private final int slotLength;
    private final long number;
    private final CloseStack owned = new CloseStack();
    private final MemoryRegion sink;
    private final MemorySegment sinkSegment;
    private final ByteBuffer sinkView;
    private final MemoryRegion control;
    private final MemorySegment controlSegment;
    private final long helloOffset;
    private final long reportOffset;
    private final QueuePair queuePair;
    private final SendWorkRequestList batch;

    /** Set by a thread of the device. */
    private volatile @Nullable String ended;

    /**
     * Connects.
     *
     * @param loop outlives it
     * @param member told what is done
     * @param settings the window, and the limits of items and time
     * @param address of the server's RDMA port
     * @param privateData shown to the server
     */
    public ReaderQueuePair(
            MemberLoop loop,
            LoopMember member,
            ReaderSettings settings,
            InetSocketAddress address,
            byte[] privateData) {
        this.loop = loop;
        this.depth = new QueueDepth(settings.window());
        this.slotLength = (settings.maxItemLength() + PAGE - 1) & -PAGE;
        int slots = settings.window() + 1;
        batch = new SendWorkRequestList(slots);
        int index = loop.add(member, depth.completions());
        number = (long) index << Integer.SIZE;
        owned.add(() -> loop.remove(index, depth.completions()));
        try {
            VerbsDevice device = loop.device();
            sinkSegment =
                    owned.add(device.allocateMemory((long) slots * slotLength)).segment();
            sinkView = sinkSegment.asByteBuffer();
            sink = owned.add(loop.domain()
                    .register(
                            sinkSegment,
                            EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.READ_SINK)));
            helloOffset = (long) depth.receives() * CONTROL_SLOT_LENGTH;
            reportOffset = helloOffset + CONTROL_SLOT_LENGTH;
            controlSegment = owned.add(device.allocateMemory(reportOffset + REPORT_LENGTH))
                    .segment();
            control = owned.add(loop.domain()
                    .register(controlSegment, EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.RECEIVE_SINK)));
            queuePair = connect(device, settings, address, privateData);
        } catch (RuntimeException e) {
            throw owned.closeAfter(e);
        }
        queuePair.disconnected().thenAccept(reason -> ended = reason);
    }

    private QueuePair connect(
            VerbsDevice device, ReaderSettings settings, InetSocketAddress address, byte[] privateData) {
        try (Connector connector = device.resolve(address, settings.connectTimeoutNs())) {
            QueuePair made = owned.add(connector.createQueuePair(
                    loop.domain(),
                    QueuePairAttributes.of(loop.queue(), QueuePairLimits.of(depth.sends(), depth.receives()))
                            .withRelaxedReads())); // of items; none needs what a hello or a touch report has brought
            for (int i = 0; i < depth.receives(); i++) {
                made.postReceive(wrId(RECEIVE, i), control, message(i), CONTROL_SLOT_LENGTH);
            }
            int reads = Math.min(settings.window() + 1, device.capabilities().maxOutboundReads());
            connector.connect(new ConnectionParameters(reads, 0, privateData), settings.connectTimeoutNs());
            return made;
        }
    }

    /** What kind of work a number means. */
    public static int kindOf(long wrId) {
        return (int) wrId >>> KIND_SHIFT;
    }

    /** Of which slot. */
    public static int slotOf(long wrId) {
        return (int) wrId & SLOT_MASK;
    }

    /** Why the device says that it has ended, or null. */
    public @Nullable String ended() {
        return ended;
    }

    /** Where items land. */
    public MemorySegment sink() {
        return sinkSegment;
    }

    /** The same as a buffer, whose position and limit mean nothing. */
    public ByteBuffer sinkView() {
        return sinkView;
    }

    /** Where the item of a slot lands in {@link #sink}. */
    public long offset(int slot) {
        return (long) slot * slotLength;
    }

    /** What an rget says of where the server may write into a slot: rkey and address. */
    public String target(int slot) {
        return Integer.toUnsignedString(sink.rkey()) + " " + Long.toUnsignedString(sink.address() + offset(slot));
    }

    /** Where messages land and reports are written. */
    public MemorySegment control() {
        return controlSegment;
    }

    /** Where in {@link #control} a message has landed. */
    public long message(int slot) {
        return (long) slot * CONTROL_SLOT_LENGTH;
    }

    /** Where in {@link #control} a report is written. */
    long reportOffset() {
        return reportOffset;
    }

    /** Posts a READ at once. */
    public void postRead(int slot, int length, long address, int rkey) {
        requireAccepted(
                queuePair.postRead(wrId(READ, slot), sink, offset(slot), length, address, rkey, SendFlags.SIGNALLED));
    }

    /** Adds a READ to those that {@link #flush} posts, or the next poll of the loop. */
    public void addRead(int slot, int length, long address, int rkey) {
        loop.prepared();
        batch.next().read(wrId(READ, slot), address, rkey, SendFlags.SIGNALLED).add(sink, offset(slot), length);
    }

    /** Posts what was added, with one doorbell. If that fails, nothing of it is posted later. */
    public void flush() {
        if (batch.size() > 0) {
            try {
                requireAccepted(queuePair.post(batch));
            } finally {
                batch.clear();
            }
        }
    }

    /** Makes room for another message of the server. */
    public void postReceive(int slot) {
        queuePair.postReceive(wrId(RECEIVE, slot), control, message(slot), CONTROL_SLOT_LENGTH);
    }

    void sendHello(String token) {
        HelloDescriptor.write(controlSegment, helloOffset, token);
        send(HELLO, helloOffset, HelloDescriptor.LENGTH);
    }

    /** Sends the report that stands at {@link #reportOffset}. */
    void sendReport(int length) {
        send(TOUCH, reportOffset, length);
    }

    private void send(int kind, long offset, int length) {
        requireAccepted(queuePair.postSend(wrId(kind, 0), control, offset, length, SendFlags.SIGNALLED));
    }

    private long wrId(int kind, int slot) {
        return number | (long) kind << KIND_SHIFT | slot;
    }

    private static void requireAccepted(PostStatus status) {
        if (status != PostStatus.ACCEPTED) {
            throw new IllegalStateException("the send queue is full although its requests are counted: " + status);
        }
    }

    @Override
    public void close() {
        owned.close();
    }
}
