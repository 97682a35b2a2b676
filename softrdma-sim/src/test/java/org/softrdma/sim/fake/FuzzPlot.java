package org.softrdma.sim.fake;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.ReceiveWorkRequest;
import org.softrdma.verbs.SendFlags;

/**
 * Memory that a hostile peer meets: regions with and without rights, of its domain, of another and of none, in one block. What
 * the peer may change is only what is granted: one region, and the buffers of the work requests posted for it.
 */
final class FuzzPlot {
    static final int BLOCK = 512 * 1024;

    /** Bytes of the RECVs posted for a connection, in their order. */
    static final int[] RECEIVES = {110, 0, 40, 700, 66_000, 33, 33, 5000};
    /** Bytes of the READs posted for a connection, in their order. */
    static final int[] READS = {77, 5000, 0, 20_000, 17_000};

    /** Atomics posted for a connection, before the READs. */
    static final int ATOMICS = 2;

    private static final int WORDS = 64;
    private static final byte SECRET = (byte) 0xC5;
    private static final int SECRET_RUN = 16;
    private static final int GAP = 512;
    private static final int PIECE = 50;
    private static final int REGION = 70_000;

    private final MemorySegment block;
    private final MemorySegment pristine;
    private final boolean[] granted = new boolean[BLOCK / GAP];
    private final MemoryRegion target;
    private final MemoryRegion source;
    private final MemoryRegion received;
    private final MemoryRegion sink;
    private final MemoryRegion words;
    private final MemoryRegion fetched;
    private final List<Place> places;
    private int used = 2 * GAP;

    /** A stag and what it may be good for. */
    record Place(int stag, long offset, int length) {
        static Place remote(MemoryRegion region) {
            return new Place(region.rkey(), region.address(), (int) region.length());
        }

        static Place local(MemoryRegion region) {
            return new Place(region.lkey(), region.address(), (int) region.length());
        }
    }

    /**
     * Lays it out.
     *
     * @param block at least {@link #BLOCK} bytes
     * @param domain of the connections
     * @param other another one
     * @param owner closes regions with the device
     */
    FuzzPlot(MemorySegment block, ProtectionDomain domain, ProtectionDomain other, Consumer<MemoryRegion> owner) {
        this.block = block.asSlice(0, BLOCK).fill(SECRET);
        target = region(domain, REGION, true, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
        source = region(domain, REGION, false, AccessFlag.REMOTE_READ);
        MemoryRegion silent = region(domain, 9000, false, AccessFlag.LOCAL_WRITE);
        MemoryRegion foreign =
                region(other, 9000, false, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
        MemoryRegion gone =
                region(domain, 9000, false, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
        received = region(domain, spread(RECEIVES), false, AccessFlag.RECEIVE_SINK);
        grantSpread(received, RECEIVES);
        sink = region(domain, spread(READS), false, AccessFlag.READ_SINK);
        grantSpread(sink, READS);
        words = region(domain, WORDS * Long.BYTES, true, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_ATOMIC);
        fetched = region(domain, ATOMICS * Long.BYTES, true, AccessFlag.READ_SINK);
        MemorySegment.copy(TestBytes.pattern(4, REGION), 0, target.memory(), ValueLayout.JAVA_BYTE, 0, REGION);
        MemorySegment.copy(TestBytes.pattern(5, REGION), 0, source.memory(), ValueLayout.JAVA_BYTE, 0, REGION);
        pristine = MemorySegment.ofArray(this.block.toArray(ValueLayout.JAVA_BYTE));
        places = List.of(
                Place.remote(target),
                Place.remote(source),
                Place.remote(silent),
                Place.remote(foreign),
                Place.remote(gone),
                Place.remote(received),
                Place.remote(sink),
                Place.local(target),
                Place.local(silent),
                Place.local(received),
                Place.local(sink),
                Place.remote(words),
                Place.local(words),
                Place.remote(fetched));
        gone.close();
        List.of(target, source, silent, foreign, received, sink, words, fetched).forEach(owner);
    }

    private MemoryRegion region(ProtectionDomain domain, int length, boolean free, AccessFlag... access) {
        int from = used;
        int blocks = (length + GAP - 1) / GAP;
        used += (blocks + 2) * GAP;
        assertTrue(used <= BLOCK, "the block is too small");
        for (int i = 0; free && i < blocks; i++) {
            granted[from / GAP + i] = true;
        }
        return domain.register(block.asSlice(from, length), Set.of(access));
    }

    /** Each buffer begins a unit of its own and is followed by a unit that nobody may change. */
    private static int spread(int... lengths) {
        int total = 0;
        for (int length : lengths) {
            total += room(length);
        }
        return total;
    }

    private static int room(int length) {
        return ((length + GAP - 1) / GAP + 1) * GAP;
    }

    private static int start(int[] lengths, int index) {
        int start = 0;
        for (int i = 0; i < index; i++) {
            start += room(lengths[i]);
        }
        return start;
    }

    private void grantSpread(MemoryRegion region, int... lengths) {
        int base = (int) (region.memory().address() - block.address());
        for (int i = 0; i < lengths.length; i++) {
            int from = base + start(lengths, i);
            for (int at = from; at < from + lengths[i]; at += GAP) {
                granted[at / GAP] = true;
            }
        }
    }

    /** Where a peer may READ and WRITE. */
    Place target() {
        return places.getFirst();
    }

    /** Where a peer may only READ. */
    Place source() {
        return places.get(1);
    }

    /** Where a peer may change words by atomics. */
    Place words() {
        return Place.remote(words);
    }

    /** Stags, granted or not. */
    List<Place> places() {
        return places;
    }

    /** Where the response to a posted READ goes. */
    Place sink(int index) {
        return new Place(sink.lkey(), sink.address() + start(READS, index), READS[index]);
    }

    /** Posts all RECVs; returns how many were accepted. */
    int postReceives(QueuePair pair) {
        int accepted = 0;
        for (int i = 0; i < RECEIVES.length; i++) {
            long from = start(RECEIVES, i);
            ReceiveWorkRequest request = new ReceiveWorkRequest().receive(100 + i);
            int first = Math.min(RECEIVES[i], PIECE);
            request.add(received, from, first);
            if (RECEIVES[i] > first) {
                request.add(received, from + first, 0).add(received, from + first, RECEIVES[i] - first);
            }
            accepted += pair.post(request) == PostStatus.ACCEPTED ? 1 : 0;
        }
        return accepted;
    }

    /** Posts all READs and atomics; returns how many were accepted. */
    int postReads(QueuePair pair) {
        int accepted = 0;
        for (int i = 0; i < ATOMICS; i++) {
            PostStatus status = pair.postFetchAndAdd(
                    300 + i, fetched, (long) i * Long.BYTES, 0x1000L * i, i, 1, SendFlags.SIGNALLED);
            accepted += status == PostStatus.ACCEPTED ? 1 : 0;
        }
        for (int i = 0; i < READS.length; i++) {
            PostStatus status =
                    pair.postRead(200 + i, sink, start(READS, i), READS[i], 0x1000L * i, i, SendFlags.SIGNALLED);
            accepted += status == PostStatus.ACCEPTED ? 1 : 0;
        }
        return accepted;
    }

    /** Fails if a byte has changed that nobody was granted. */
    void requireUntouched() {
        for (int i = 0; i < granted.length; i++) {
            int from = i;
            while (i < granted.length && !granted[i]) {
                i++;
            }
            long at = MemorySegment.mismatch(
                    block, (long) from * GAP, (long) i * GAP, pristine, (long) from * GAP, (long) i * GAP);
            assertEquals(-1, at, "memory that was not granted has changed, after unit " + from + " of the block");
        }
    }

    /** Fails if bytes sent to the peer are of memory that it may not READ. */
    static void requireNoSecret(byte[] sent) {
        int run = 0;
        for (byte each : sent) {
            run = each == SECRET ? run + 1 : 0;
            assertTrue(run < SECRET_RUN, "the peer was sent memory that it may not READ");
        }
    }
}
