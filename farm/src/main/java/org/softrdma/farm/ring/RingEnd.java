package org.softrdma.farm.ring;

import java.lang.foreign.MemorySegment;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.StoreCounters;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.SendFlags;

/**
 * One end of a pair of rings, one each way ({@link RingBox}): takes messages from its inbox, and writes messages into
 * the peer's.
 *
 * <p>The work requests that it posts have negative numbers: give their completions to {@link #completed}. Allocates
 * nothing after construction. One thread.
 */
public final class RingEnd {
    /** No message is there. */
    public static final int NONE = RingReader.NONE;

    /** No room for a message now. */
    public static final long FULL = RingWriter.FULL;

    /** Most work requests on their way: messages, skips, and one head. */
    public static final int MOST_WRITES = 64;

    private static final long OWN = Long.MIN_VALUE;
    private static final long HEAD = 1L << 62;

    private final StoreCounters counters;
    private final RingBox inbox;
    private final RingBox outbox;
    private final RingReader reader;
    private final RingWriter writer;
    private final QueuePair pair;
    private final RemoteRegion peer;
    private int writes;
    private boolean telling;

    /**
     * A connected end.
     *
     * @param inbox of this end
     * @param outbox of this end, with a ring as long as that of the peer's inbox
     * @param pair connected, with {@link #MOST_WRITES} work requests to spare
     * @param peer the peer's inbox
     * @param proven how to believe a message ({@link RingFrameDescriptor}): by its checksum, or as in the paper
     * @param counters counts WRITEs
     */
    public RingEnd(
            RingBox inbox, RingBox outbox, QueuePair pair, RemoteRegion peer, boolean proven, StoreCounters counters) {
        this.inbox = inbox;
        this.outbox = outbox;
        this.pair = pair;
        this.peer = peer;
        this.counters = counters;
        reader = new RingReader(inbox.memory().segment().asSlice(0, inbox.capacity()), proven);
        writer = new RingWriter(outbox.memory().segment().asSlice(0, outbox.capacity()));
    }

    // ---- messages of the peer

    /** The length of the next message, or {@link #NONE}. The same message until it is released. */
    public int poll() {
        return reader.poll();
    }

    /** The memory that the next message is in. */
    public MemorySegment received() {
        return inbox.memory().segment();
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
        int head = outbox.capacity();
        RingFrameDescriptor.put(outbox.memory().segment(), head, HeadWordDescriptor.word(reader.head()));
        reader.told();
        telling = true;
        post(OWN | HEAD, head, HeadWordDescriptor.LENGTH);
    }

    // ---- messages to the peer

    /**
     * A place for a message.
     *
     * @param length of the message
     * @return where it goes in {@link #sending}, or {@link #FULL}
     */
    public long claim(int length) {
        long head = (long) RingFrameDescriptor.WORD.getAcquire(inbox.memory().segment(), (long) inbox.capacity());
        if (head != 0) {
            writer.headIs(head);
        }
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
        return outbox.memory().segment();
    }

    /** WRITEs the claimed message. */
    public void send() {
        long at = writer.at();
        int frame = writer.seal();
        post(OWN | writer.tail(), at, frame);
    }

    private void post(long wrId, long at, long length) {
        PostStatus status = pair.postWrite(
                wrId, outbox.region(), at, length, peer.address() + at, peer.rkey(), SendFlags.SIGNALLED);
        if (status != PostStatus.ACCEPTED) {
            throw new IllegalStateException("the send queue is smaller than the " + MOST_WRITES + " WRITEs of a ring");
        }
        writes++;
        counters.increment(StoreCounter.WRITES);
    }

    /** True if a WRITE is not complete yet. */
    public boolean isWriting() {
        return writes > 0;
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
}
