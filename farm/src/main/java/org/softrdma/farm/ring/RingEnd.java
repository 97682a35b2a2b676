package org.softrdma.farm.ring;

import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.Set;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.StoreCounters;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * One end of a pair of rings, one each way. It has two pieces of memory: the <em>inbox</em>, which the peer WRITEs, and
 * the <em>outbox</em>, from which this end WRITEs. Both are a ring and behind it a head word: in the inbox how far the
 * peer is in the ring of this end's messages, in the outbox how far this end is in the ring of the peer's.
 *
 * <p>The work requests that it posts have negative numbers: give their completions to {@link #completed}. Allocates
 * nothing after construction. One thread.
 */
public final class RingEnd implements AutoCloseable {
    /** No message is there. */
    public static final int NONE = RingReader.NONE;

    /** No room for a message now. */
    public static final long FULL = RingWriter.FULL;

    /** Most work requests on their way: messages, skips, and one head. */
    public static final int MOST_WRITES = 64;

    private static final long OWN = Long.MIN_VALUE;
    private static final long HEAD = 1L << 62;

    private final long capacity;
    private final StoreCounters counters;
    private final HostMemory memory;
    private final MemoryRegion inbox;
    private final MemoryRegion outbox;
    private final RingReader reader;
    private final RingWriter writer;
    private final QueuePair pair;
    private final RemoteRegion peer;
    private int writes;
    private boolean telling;

    /** Memory of an end that is not connected yet. */
    public record Memory(HostMemory memory, MemoryRegion inbox, MemoryRegion outbox) implements AutoCloseable {
        /** What the peer must know. */
        public RemoteRegion remote() {
            return inbox.remote();
        }

        @Override
        public void close() {
            inbox.close();
            outbox.close();
            memory.close();
        }
    }

    /**
     * Allocates and registers memory for an end.
     *
     * @param device of the domain
     * @param domain of the queue pair
     * @param capacity bytes of each ring, a multiple of 64
     */
    public static Memory allocate(VerbsDevice device, ProtectionDomain domain, int capacity) {
        long box = boxLength(capacity);
        HostMemory memory = device.allocateMemory(2 * box);
        Set<AccessFlag> access = EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        if (device.capabilities().features().contains(Feature.ORDERED_PLACEMENT)) {
            access.add(AccessFlag.POLLED);
        }
        MemoryRegion inbox = domain.register(memory.segment().asSlice(0, box), access);
        MemoryRegion outbox =
                domain.register(memory.segment().asSlice(box, box), Set.of(AccessFlag.LOCAL_WRITE));
        return new Memory(memory, inbox, outbox);
    }

    /** Bytes of a box: the ring, and a line for the head word. */
    public static long boxLength(int capacity) {
        return capacity + 64L;
    }

    /** Longest message. */
    public static int longest(int capacity) {
        return RingWriter.longest(capacity);
    }

    /** Bytes of rings for messages of this length, several of them. */
    public static int capacityFor(int longest, int messages) {
        int frame = RingFrameDescriptor.length(longest);
        return Math.max(4 * (frame + RingFrameDescriptor.ALIGNMENT), frame * messages) + 63 & -64;
    }

    /**
     * A connected end.
     *
     * @param memory closed with it
     * @param capacity bytes of each ring
     * @param pair connected, with {@link #MOST_WRITES} work requests to spare
     * @param peer the peer's inbox
     * @param proven how to believe a message ({@link RingFrameDescriptor}): by its checksum, or as in the paper
     * @param counters counts WRITEs
     */
    public RingEnd(
            Memory memory,
            int capacity,
            QueuePair pair,
            RemoteRegion peer,
            boolean proven,
            StoreCounters counters) {
        this.memory = memory.memory();
        inbox = memory.inbox();
        outbox = memory.outbox();
        this.capacity = capacity;
        this.pair = pair;
        this.peer = peer;
        this.counters = counters;
        reader = new RingReader(inbox.memory().asSlice(0, capacity), proven);
        writer = new RingWriter(outbox.memory().asSlice(0, capacity));
    }

    // ---- messages of the peer

    /** The length of the next message, or {@link #NONE}. The same message until it is released. */
    public int poll() {
        return reader.poll();
    }

    /** The memory that the next message is in. */
    public MemorySegment received() {
        return inbox.memory();
    }

    /** Where the next message begins in it. */
    public long receivedAt() {
        return reader.payload();
    }

    /** The message is processed. */
    public void release() {
        reader.release();
        tell();
    }

    private void tell() {
        if (!reader.mustTell() || telling || writes == MOST_WRITES) {
            return;
        }
        RingFrameDescriptor.put(outbox.memory(), capacity, HeadWordDescriptor.word(reader.head()));
        reader.told();
        telling = true;
        post(OWN | HEAD, capacity, HeadWordDescriptor.LENGTH);
    }

    // ---- messages to the peer

    /**
     * A place for a message.
     *
     * @param length of the message
     * @return where it goes in {@link #sending}, or {@link #FULL}
     */
    public long claim(int length) {
        writer.headIs((long) RingFrameDescriptor.WORD.getAcquire(inbox.memory(), capacity));
        if (writes + 2 >= MOST_WRITES || !writer.hasRoom(length)) {
            return FULL;
        }
        if (writer.mustSkip(length)) {
            long at = writer.at();
            int frame = writer.skip();
            post(OWN | writer.tail(), at, frame);
        }
        return writer.claim(length);
    }

    /** The memory that messages are laid out in. */
    public MemorySegment sending() {
        return outbox.memory();
    }

    /** WRITEs the claimed message. */
    public void send() {
        long at = writer.at();
        int frame = writer.seal();
        post(OWN | writer.tail(), at, frame);
    }

    private void post(long wrId, long at, long length) {
        PostStatus status = pair.postWrite(
                wrId, outbox, at, length, peer.address() + at, peer.rkey(), SendFlags.SIGNALLED);
        if (status != PostStatus.ACCEPTED) {
            throw new IllegalStateException("the send queue is smaller than the " + MOST_WRITES + " WRITEs of a ring");
        }
        writes++;
        counters.increment(StoreCounter.WRITES);
    }

    /** True if a completion is of a request of this end. */
    public static boolean isOwn(long wrId) {
        return wrId < 0;
    }

    /** A WRITE is complete. */
    public void completed(long wrId) {
        writes--;
        if ((wrId & HEAD) != 0) {
            telling = false;
            tell();
        } else {
            writer.writtenTo(wrId & ~OWN);
        }
    }

    /** Gives the memory back. The queue pair must be closed. */
    @Override
    public void close() {
        inbox.close();
        outbox.close();
        memory.close();
    }
}
