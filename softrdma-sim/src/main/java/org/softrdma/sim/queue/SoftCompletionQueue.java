package org.softrdma.sim.queue;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.provider.Creation;

/**
 * A ring of completions in parallel arrays. Engines push and application threads poll under one short lock, because
 * queue pairs of several engines may share the queue and several threads may poll it. A READ served for a peer never
 * comes here.
 *
 * <p>A simulation extends it by what verbs allow and this class does not do. Nothing else does, so calls are direct.
 */
public class SoftCompletionQueue implements CompletionQueue {
    /** Most entries of a queue. */
    public static final int MAX_ENTRIES = 1 << 22;

    /** With the opcode of a RECV: what came is a SEND with an immediate. */
    private static final int SEND_IMMEDIATE = 0x40;
    /** With the opcode of a RECV: what came is a datagram, whose length has its sender in the upper half. */
    private static final int DATAGRAM = 0x20;

    private static final int OPCODE_MASK = DATAGRAM - 1;
    private static final long LENGTH_MASK = 0xFFFF_FFFFL;

    private static final CompletionOpcode[] OPCODES = CompletionOpcode.values();
    /**
     * Work of posting threads between two turns of the device, in manual progress: so little while its turns bring
     * something. Each turn that brings nothing doubles it, up to the most.
     */
    private static final int LEAST_NEAR_WORK = 64;

    private static final int MOST_NEAR_WORK = 1024;
    /** A READ is one piece of work, and one more for so many bytes of it. */
    private static final int NEAR_WORK_SHIFT = 14;

    /** A constant, which is linked when there is memory. */
    @SuppressWarnings("UnnecessaryLambda")
    private static final Runnable NOTHING = () -> {};

    private static final int NOT_ARMED = 0;
    private static final int ARMED_SOLICITED = 1;
    private static final int ARMED_ANY = 2;

    /** Whoever takes completions as they come. */
    @FunctionalInterface
    public interface Taker {
        /**
         * Gets one.
         *
         * @param completion the same object each time
         * @param solicited it is of a message that is to wake its receiver
         */
        void take(WorkCompletion completion, boolean solicited);
    }

    private final Progress progress;
    private final QueueLock lock;
    private final @Nullable SoftCompletionChannel channel;
    private final Runnable onClose;
    /** What the channel hands out, allocated once. */
    private final Optional<CompletionQueue> event;

    // Under the lock.
    /** Not a copy-on-write list: a queue pair must be able to detach when there is no memory. */
    private final List<CompletionSource> sources = new ArrayList<>();

    /** Done by posting threads since the device last had its turn. */
    private long nearWork;
    /** After so much of it, the device has its turn. */
    private int nearWorkUntilTurn = LEAST_NEAR_WORK;

    // Not final: resize replaces them.
    private int mask;
    private long[] wrIds;
    private long[] byteLengths;
    private long[] sequences;
    private int[] vendorCodes;
    private byte[] statuses;
    private byte[] opcodes;
    private CompletionSource[] owners;
    private long head;
    private long tail;
    private int armed = NOT_ARMED;
    private boolean overrun;
    private boolean closed;
    /** Where an overrun is told; null for nowhere. */
    private @Nullable AsyncEvents events;

    private int most = MAX_ENTRIES;
    /** Gets whatever comes; null for nobody. */
    private @Nullable Taker taker;

    private final WorkCompletion given = new WorkCompletion();

    // Under the channel's lock, which is taken inside this queue's.
    private int eventsTaken;

    /**
     * An empty queue.
     *
     * @param minimumEntries minimum number of entries, rounded up to a power of two
     * @param progress how polling drives the device
     * @param channel where events go, or null
     * @param onClose called once on close
     */
    @SuppressWarnings("this-escape") // nobody gets the event before the queue is made
    public SoftCompletionQueue(
            int minimumEntries, Progress progress, @Nullable SoftCompletionChannel channel, Runnable onClose) {
        int capacity = RingSize.atLeast(minimumEntries);
        event = Optional.of(this);
        this.progress = progress;
        this.channel = channel;
        this.onClose = onClose;
        lock = new QueueLock(progress);
        mask = capacity - 1;
        wrIds = new long[capacity];
        byteLengths = new long[capacity];
        sequences = new long[capacity];
        vendorCodes = new int[capacity];
        statuses = new byte[capacity];
        opcodes = new byte[capacity];
        owners = new CompletionSource[capacity];
        if (channel != null) {
            channel.attach();
        }
    }

    /** True if it belongs to the device that this progress drives. */
    public boolean isOf(Progress device) {
        return progress == device;
    }

    /** From now on an overrun is an event of the device. Before anybody else has the queue. */
    public void tell(AsyncEvents deviceEvents) {
        events = deviceEvents;
    }

    /**
     * From now on completions are not kept, but given away as they come, on the thread of the engine that brings them. Before
     * anybody else has the queue, whose queue pairs all have the same engine.
     */
    public void takenBy(Taker newTaker) {
        taker = newTaker;
    }

    /** The most entries that it can be resized to, or 0 if it cannot be resized. Before anybody else has the queue. */
    public void mayResizeTo(int entries) {
        most = entries;
    }

    @Override
    public int entries() {
        lock.lock();
        try {
            return mask + 1;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void resize(int minimumEntries) {
        progress.checkThread();
        if (most == 0) {
            CompletionQueue.super.resize(minimumEntries);
        }
        if (minimumEntries < 1 || minimumEntries > most) {
            throw new IllegalArgumentException("minimumEntries=" + minimumEntries + ": expected 1 to " + most);
        }
        int capacity = RingSize.atLeast(minimumEntries);
        // Outside the lock, for which engines wait.
        SoftCompletionQueue larger = Creation.orUndo(
                () -> new SoftCompletionQueue(capacity, progress, null, NOTHING),
                NOTHING,
                "a completion queue of " + capacity + " entries");
        lock.lock();
        try {
            if (closed) {
                throw new IllegalStateException("the completion queue is closed");
            }
            if (tail - head > capacity) {
                throw new VerbsException(
                        VerbsErrorCode.INVALID,
                        "resize to " + capacity + " entries: " + (tail - head)
                                + " completions are in the queue; poll them first");
            }
            for (long i = head; i < tail; i++) {
                copy((int) i & mask, larger, (int) i & larger.mask);
            }
            takeEntriesOf(larger);
        } finally {
            lock.unlock();
        }
    }

    /** Its slots become this queue's. Under the lock. */
    private void takeEntriesOf(SoftCompletionQueue other) {
        mask = other.mask;
        wrIds = other.wrIds;
        byteLengths = other.byteLengths;
        sequences = other.sequences;
        vendorCodes = other.vendorCodes;
        statuses = other.statuses;
        opcodes = other.opcodes;
        owners = other.owners;
    }

    /** A queue pair begins to use this queue. */
    public void attach(CompletionSource source) {
        lock.lock();
        try {
            if (closed) {
                throw new IllegalStateException("the completion queue is closed");
            }
            sources.add(source);
        } finally {
            lock.unlock();
        }
    }

    /** A queue pair is gone: its completions go too. */
    public void detach(CompletionSource source) {
        lock.lock();
        try {
            long kept = head;
            for (long i = head; i < tail; i++) {
                int from = (int) i & mask;
                if (owners[from] != source) {
                    copy(from, this, (int) kept & mask);
                    kept++;
                }
            }
            for (long i = kept; i < tail; i++) {
                owners[(int) i & mask] = null;
            }
            tail = kept;
            sources.remove(source);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Adds a completion. Engine threads.
     *
     * @param source the queue pair
     * @param wrId of the request
     * @param status how it ended
     * @param opcode what it was
     * @param byteLength bytes moved
     * @param vendorCode more about a failure; of a RECV that succeeded, the immediate if the opcode says that there is
     *     one, else the key that was invalidated, or 0
     * @param sequence behind the request on its queue: the receive queue if the opcode is a RECV's, else the send queue;
     *     negative if the posting thread did the request ({@link SendQueue#completeOutOfBand})
     * @param solicited raises a solicited event
     */
    public void push(
            CompletionSource source,
            long wrId,
            CompletionStatus status,
            CompletionOpcode opcode,
            long byteLength,
            int vendorCode,
            long sequence,
            boolean solicited) {
        push(source, wrId, status, opcode.ordinal(), byteLength, vendorCode, sequence, solicited);
    }

    /** Adds the success of a RECV by a SEND with an immediate; parameters as of {@link #push}. */
    void pushSendImmediate(
            CompletionSource source, long wrId, long byteLength, int immediate, long sequence, boolean solicited) {
        int code = CompletionOpcode.RECEIVE.ordinal() | SEND_IMMEDIATE;
        push(source, wrId, CompletionStatus.SUCCESS, code, byteLength, immediate, sequence, solicited);
    }

    /** Adds the success of a RECV by a datagram; parameters as of {@link #push}. */
    void pushDatagram(
            CompletionSource source,
            long wrId,
            long byteLength,
            int sender,
            int immediate,
            boolean hasImmediate,
            long sequence,
            boolean solicited) {
        int code = CompletionOpcode.RECEIVE.ordinal() | DATAGRAM | (hasImmediate ? SEND_IMMEDIATE : 0);
        long both = (long) sender << Integer.SIZE | byteLength;
        push(source, wrId, CompletionStatus.SUCCESS, code, both, immediate, sequence, solicited);
    }

    private void push(
            CompletionSource source,
            long wrId,
            CompletionStatus status,
            int opcode,
            long byteLength,
            int vendorCode,
            long sequence,
            boolean solicited) {
        @Nullable List<CompletionSource> overrunNow = null;
        lock.lock();
        try {
            if (tail - head > mask) {
                boolean first = !overrun;
                tellOverrun();
                overrun = true; // before anything that needs memory
                overrunNow = first ? List.copyOf(sources) : null;
            } else {
                int slot = (int) tail & mask;
                wrIds[slot] = wrId;
                byteLengths[slot] = byteLength;
                sequences[slot] = sequence;
                vendorCodes[slot] = vendorCode;
                statuses[slot] = (byte) status.code();
                opcodes[slot] = (byte) opcode;
                owners[slot] = source;
                tail++;
                if (sequence < 0) { // see SendQueue.completeOutOfBand
                    nearWork += 1 + (byteLength >>> NEAR_WORK_SHIFT);
                }
                progress.completed();
                raise(solicited || status != CompletionStatus.SUCCESS);
            }
        } finally {
            lock.unlock();
        }
        if (overrunNow != null) {
            for (CompletionSource told : overrunNow) {
                told.completionQueueOverrun();
            }
        }
        Taker takes = taker;
        if (takes != null && takeOne()) {
            takes.take(given, solicited);
        }
    }

    private boolean takeOne() {
        lock.lock();
        try {
            if (head == tail) {
                return false;
            }
            take((int) head & mask, given);
            head++;
            return true;
        } finally {
            lock.unlock();
        }
    }

    private void tellOverrun() {
        if (!overrun && events != null) {
            events.overrun(this);
        }
    }

    @Override
    public int poll(WorkCompletion[] completions, int max) {
        if (max < 0 || max > completions.length) {
            throw new IllegalArgumentException("max=" + max + ": expected 0 to " + completions.length);
        }
        if (!progress.isThreaded()) {
            progress.checkThread();
            if (head == tail) {
                nearWork = 0;
                progress.poll();
            } else if (nearWork >= nearWorkUntilTurn) {
                // Who reads without the device finds completions at every poll, and must still hear of the others.
                nearWork = 0;
                nearWorkUntilTurn = progress.turn() ? LEAST_NEAR_WORK : Math.min(2 * nearWorkUntilTurn, MOST_NEAR_WORK);
            } else {
                progress.send();
            }
        }
        lock.lock();
        try {
            int count = (int) Math.min(max, tail - head);
            requireElements(completions, count);
            for (int i = 0; i < count; i++) {
                take((int) head & mask, completions[i]);
                head++;
            }
            if (count == 0 && max > 0) {
                checkUsable();
            }
            return count;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void requestNotification(boolean solicitedOnly) {
        progress.checkThread();
        if (channel == null) {
            throw new IllegalStateException("this completion queue was created without a completion channel");
        }
        lock.lock();
        try {
            if (armed == NOT_ARMED) {
                channel.makeRoom();
            }
            armed = Math.max(armed, solicitedOnly ? ARMED_SOLICITED : ARMED_ANY);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void acknowledgeEvents(int count) {
        if (channel != null) {
            channel.acknowledge(this, count);
        } else {
            eventsAcknowledged(count);
        }
    }

    /** The channel hands out an event of this queue. Under the channel's lock. */
    Optional<CompletionQueue> takeEvent() {
        eventsTaken++;
        return event;
    }

    /** Events were acknowledged. Under the channel's lock. */
    void eventsAcknowledged(int count) {
        if (count < 0 || count > eventsTaken) {
            throw new IllegalArgumentException(
                    "count=" + count + ": expected 0 to " + eventsTaken + ", the events taken");
        }
        eventsTaken -= count;
    }

    /** Events handed out and not acknowledged. Under the channel's lock. */
    int eventsTaken() {
        return eventsTaken;
    }

    @Override
    public void close() {
        progress.checkThread();
        lock.lock();
        try {
            if (closed) {
                return;
            }
            if (!sources.isEmpty()) {
                throw new VerbsException(
                        VerbsErrorCode.BUSY, sources.size() + " queue pairs still use this completion queue");
            }
            if (channel != null) {
                channel.detach(this);
            }
            closed = true;
            if (events != null) {
                events.forget(this);
            }
            onClose.run(); // inside: a concurrent close returns after this
        } finally {
            lock.unlock();
        }
    }

    private void raise(boolean solicited) {
        if (armed == ARMED_ANY || (armed == ARMED_SOLICITED && solicited)) {
            disarm();
        }
    }

    private void disarm() {
        armed = NOT_ARMED;
        raiseEvent();
    }

    /** Raises the event for which the queue is armed, as if for a completion that was polled since. */
    protected void raiseSpuriously() {
        lock.lock();
        try {
            disarm();
        } finally {
            lock.unlock();
        }
    }

    /** Raises an event on the channel, if there is one. Under this queue's lock. */
    protected void raiseEvent() {
        if (channel != null) {
            channel.raise(this);
        }
    }

    /** Checks before taking anything: completions taken for an array with a null element would be lost. */
    private static void requireElements(WorkCompletion[] completions, int count) {
        for (int i = 0; i < count; i++) {
            if (completions[i] == null) {
                throw new IllegalArgumentException(
                        "completions[" + i + "] is null: expected an array from WorkCompletion.array");
            }
        }
    }

    private void take(int slot, WorkCompletion completion) {
        CompletionSource source = owners[slot];
        owners[slot] = null;
        CompletionOpcode opcode = OPCODES[opcodes[slot] & OPCODE_MASK];
        boolean receive = opcode.isReceive();
        if (statuses[slot] == 0) {
            boolean datagram = (opcodes[slot] & DATAGRAM) != 0;
            long length = datagram ? byteLengths[slot] & LENGTH_MASK : byteLengths[slot];
            completion.succeeded(wrIds[slot], source.number(), opcode, length);
            if (receive) {
                attach(completion, opcodes[slot], vendorCodes[slot]);
            }
            if (datagram) {
                completion.withSource((int) (byteLengths[slot] >>> Integer.SIZE), true);
            }
        } else {
            completion.failed(wrIds[slot], source.number(), CompletionStatus.ofCode(statuses[slot]), vendorCodes[slot]);
        }
        if (receive) {
            source.releaseReceiveSlots(sequences[slot]);
        } else {
            source.releaseSendSlots(sequences[slot]);
        }
    }

    /** What came with the message. No key is 0. */
    private static void attach(WorkCompletion completion, int opcode, int number) {
        if (opcode == CompletionOpcode.RECEIVE_WRITE_IMMEDIATE.ordinal() || (opcode & SEND_IMMEDIATE) != 0) {
            completion.withImmediate(number);
        } else if (number != 0) {
            completion.withInvalidatedKey(number);
        }
    }

    private void checkUsable() {
        if (overrun) {
            throw new VerbsException(
                    VerbsErrorCode.QUEUE_OVERRUN,
                    "the completion queue was full (" + entries() + " entries) and lost completions; create it larger, "
                            + "or poll before posting more");
        }
        if (closed) {
            throw new IllegalStateException("the completion queue is closed");
        }
    }

    private void copy(int from, SoftCompletionQueue target, int to) {
        target.wrIds[to] = wrIds[from];
        target.byteLengths[to] = byteLengths[from];
        target.sequences[to] = sequences[from];
        target.vendorCodes[to] = vendorCodes[from];
        target.statuses[to] = statuses[from];
        target.opcodes[to] = opcodes[from];
        target.owners[to] = owners[from];
    }
}
