package org.softrdma.sim.samehost;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.softrdma.sim.peer.TestDevice;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.MemoryRegion;

/**
 * Shows memory, one life after the other: fills it, registers it, says so in a notice, closes it and overwrites it; and swaps
 * other memory all the time. Owned by the thread that drives it.
 */
final class NearOwner {
    /** Bytes of everything that is read. */
    static final int LENGTH = 4096;

    /** What is in memory that must not be read. */
    static final long POISON = -1;

    private static final int WORDS = LENGTH / Long.BYTES;
    private static final long LIFE_NS = 3_000_000;

    private final TestDevice device;
    private final MemorySegment lives;
    private final MemoryRegion notice;
    private final MemoryRegion shown;
    private final MemoryRegion hidden;
    private long value;
    private long longestCloseNs;

    NearOwner(TestDevice device) {
        this.device = device;
        MemorySegment memory = NearPair.allocate(device, 4L * LENGTH);
        lives = memory.asSlice(0, LENGTH);
        notice = device.own(device.domain().register(memory.asSlice(LENGTH, LENGTH), Set.of(AccessFlag.REMOTE_READ)));
        shown = zeroBased(memory.asSlice(2L * LENGTH, LENGTH));
        hidden = zeroBased(memory.asSlice(3L * LENGTH, LENGTH));
    }

    private MemoryRegion zeroBased(MemorySegment memory) {
        return device.own(device.domain().register(memory, Set.of(AccessFlag.REMOTE_READ, AccessFlag.ZERO_BASED)));
    }

    MemoryRegion notice() {
        return notice;
    }

    MemoryRegion shown() {
        return shown;
    }

    /** How many lives there were. */
    long lives() {
        return value;
    }

    /** The longest that a close has taken. */
    long longestCloseNs() {
        return longestCloseNs;
    }

    /** One life, and some swaps. */
    void live() {
        value++;
        fill(lives, value);
        MemoryRegion region = device.domain().register(lives, Set.of(AccessFlag.REMOTE_READ));
        Notice.put(notice.memory(), region.address(), region.rkey(), value);
        long endNs = System.nanoTime() + LIFE_NS;
        while (System.nanoTime() < endNs) {
            fill(hidden.memory(), value);
            shown.swap(hidden);
            fill(hidden.memory(), POISON);
            LockSupport.parkNanos(LIFE_NS / 10);
        }
        long beganNs = System.nanoTime();
        region.close();
        longestCloseNs = Math.max(longestCloseNs, System.nanoTime() - beganNs);
        fill(lives, POISON);
    }

    private static void fill(MemorySegment memory, long value) {
        for (long i = 0; i < WORDS; i++) {
            memory.setAtIndex(ValueLayout.JAVA_LONG_UNALIGNED, i, value);
        }
    }

    /** What a reader is told of a life. Half of one is none. */
    record Notice(long address, int rkey, long value) {
        private static final long MIXER = 0x9e37_79b9_7f4a_7c15L;

        private long sum() {
            return ((address * MIXER + rkey) * MIXER + value) * MIXER;
        }

        static void put(MemorySegment memory, long address, int rkey, long value) {
            Notice notice = new Notice(address, rkey, value);
            memory.setAtIndex(ValueLayout.JAVA_LONG_UNALIGNED, 0, address);
            memory.setAtIndex(ValueLayout.JAVA_LONG_UNALIGNED, 1, rkey);
            memory.setAtIndex(ValueLayout.JAVA_LONG_UNALIGNED, 2, value);
            memory.setAtIndex(ValueLayout.JAVA_LONG_UNALIGNED, 3, notice.sum());
            VarHandle.fullFence();
        }

        /** That which a client has read; null if it is none. */
        static @Nullable Notice of(NearClient client) {
            Notice notice = new Notice(client.word(0), (int) client.word(1), client.word(2));
            return notice.value > 0 && notice.sum() == client.word(3) ? notice : null;
        }
    }
}
