package org.softrdma.stores.herd;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.softrdma.stores.MemorySteps;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreCounters;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.stores.herd.part.HerdPart;
import org.softrdma.stores.herd.transport.HerdHost;
import org.softrdma.stores.herd.transport.HerdPeer;
import org.softrdma.stores.herd.transport.HerdPort;
import org.softrdma.stores.herd.transport.HerdReplies;
import org.softrdma.stores.herd.wire.HerdAsked;
import org.softrdma.stores.herd.wire.HerdForms;
import org.softrdma.stores.herd.wire.HerdReplyDescriptor;
import org.softrdma.stores.herd.wire.HerdRequestForm;
import org.softrdma.stores.herd.wire.HerdShape;

/**
 * A worker of HERD without a device: its only client puts requests into the slots, and looks at the answers where they were
 * laid out. Allocates nothing after construction.
 */
final class LoneWorker implements HerdPeer, HerdReplies, HerdPort {
    /** Bytes of a key of the published form. */
    static final int KEY_LENGTH = 2 * Long.BYTES;

    static final int VALUE_LENGTH = 32;

    /** Answers that are remembered. */
    static final int ANSWERS = 64;

    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final long SEED = 1;

    private final HerdShape shape;
    private final HerdRequestForm form;
    private final MemorySegment slots;
    private final ByteBuffer view;
    private final MemorySegment answers = Arena.ofAuto().allocate((long) ANSWERS * HerdShape.slotLength(64), 64);
    private final HerdWorker worker;
    private int room = Integer.MAX_VALUE;
    private int roomAtATime = Integer.MAX_VALUE;
    private int count;

    /**
     * One that was asked nothing.
     *
     * @param window slots of the client
     */
    LoneWorker(HerdPart part, Protocol protocol, int window, MemorySteps steps) {
        form = HerdForms.of(protocol, KEY_LENGTH, VALUE_LENGTH, SEED);
        shape = new HerdShape(1, window, HerdShape.slotLength(form.maxLength()));
        slots = Arena.ofAuto().allocate(shape.length(), 64);
        view = slots.asByteBuffer();
        HerdRoster roster = new HerdRoster(1);
        roster.add(new HerdSeat(this, 1, new HerdSession(1, shape.slots()), shape, System.nanoTime()));
        StoreServerContext context = new StoreServerContext(new InetSocketAddress(0)).steps(steps);
        worker = new HerdWorker(0, "worker", shape, part, form, roster, this, context, new StoreCounters());
    }

    /** A request in a slot. */
    void ask(HerdAsked asked) {
        int ignored = form.put(slots, view, shape.end(asked.slot()), asked);
    }

    /** A GET in the published form, of a key that is its own hash. */
    void ask(int slot, long key) {
        putKey(slots, shape.end(slot) - KEY_LENGTH, key);
    }

    /** The key that {@link #ask} asks for. */
    static void putKey(MemorySegment memory, long at, long key) {
        memory.set(LONG, at, key);
        memory.set(LONG, at + Long.BYTES, ~key | 1);
    }

    int turn() {
        return worker.doWork();
    }

    /** From now on there is room for so many answers. */
    void room(int newRoom) {
        room = newRoom;
    }

    /** From now on there is room for so many answers at a time. */
    void roomAtATime(int newRoom) {
        roomAtATime = newRoom;
    }

    /** How many answers there were. */
    int count() {
        return count;
    }

    /** The slot of an answer, of the last {@link #ANSWERS}. */
    int slot(int index) {
        return HerdReplyDescriptor.slot(answers, at(index));
    }

    /** The attempt that an answer is to. */
    int attempt(int index) {
        return HerdReplyDescriptor.attempt(answers, at(index));
    }

    private static long at(int index) {
        return (long) (index % ANSWERS) * HerdShape.slotLength(64);
    }

    // ---- what the worker has to do with

    @Override
    public MemorySegment slots() {
        return slots;
    }

    @Override
    public HerdReplies replies(int number) {
        return this;
    }

    @Override
    public boolean hasRoom(int more) {
        return more <= Math.min(room, roomAtATime);
    }

    @Override
    public MemorySegment memory() {
        return answers;
    }

    @Override
    public long nextAt() {
        return at(count);
    }

    @Override
    public void add(int length) {
        if (room == 0) {
            throw new IllegalStateException("there is no room for this answer");
        }
        room--;
        count++;
    }

    @Override
    public void flush() {
        // They stay here.
    }

    @Override
    public boolean isOpen() {
        return true;
    }

    @Override
    public void drop() {
        throw new IllegalStateException("it is never dropped");
    }

    @Override
    public void release() {
        throw new IllegalStateException("it is always there");
    }

    @Override
    public InetSocketAddress address() {
        return new InetSocketAddress(0);
    }

    @Override
    public boolean hasThreads() {
        return false;
    }

    @Override
    public int poll(HerdHost host) {
        return 0;
    }

    @Override
    public void turn(int number, long nowNs) {
        // Answers wait for nothing.
    }

    @Override
    public void close() {
        // Nothing is open.
    }
}
