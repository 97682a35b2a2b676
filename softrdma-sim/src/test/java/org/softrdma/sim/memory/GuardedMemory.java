package org.softrdma.sim.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.MemorySource;

/** Memory whose buffers have guards before and behind them, and whose calls fail when a test wants them to. Thread-safe. */
public final class GuardedMemory extends MemoryOperations {
    private static final int GUARD_BYTES = 64;
    private static final byte GUARD = (byte) 0xA7;

    private final ReentrantLock lock = new ReentrantLock();
    private final List<Buffer> buffers = new ArrayList<>();
    private @Nullable Supplier<? extends Error> failure;
    private long allocatedBytes;
    private long calls;
    private long failAt;
    private boolean paused;

    /** Guards, and no failures. */
    public GuardedMemory() {}

    /** What was allocated, with the guard bytes before the buffer. */
    private record Buffer(MemorySegment whole, long before, long length) {
        void requireGuards() {
            requireAll(0, before, "before");
            requireAll(before + length, whole.byteSize(), "behind");
        }

        private void requireAll(long from, long to, String where) {
            for (long at = from; at < to; at++) {
                if (whole.get(ValueLayout.JAVA_BYTE, at) != GUARD) {
                    throw new AssertionError("a byte " + where + " a buffer of " + length
                            + " bytes was written, at offset " + (at - before));
                }
            }
        }
    }

    /**
     * From now on one call fails.
     *
     * @param call 1 for the next
     * @param error made where it is thrown
     */
    public void failAt(long call, Supplier<? extends Error> error) {
        lock.lock();
        try {
            calls = 0;
            failAt = call;
            failure = error;
        } finally {
            lock.unlock();
        }
    }

    /** Until it is called with false, calls do not count. */
    public void pause(boolean on) {
        lock.lock();
        try {
            paused = on;
        } finally {
            lock.unlock();
        }
    }

    /** From now on no call fails, and calls are counted from 0. */
    public void failNever() {
        failAt(0, AssertionError::new);
    }

    /** Calls since the last {@link #failAt} or {@link #failNever}. */
    public long calls() {
        lock.lock();
        try {
            return calls;
        } finally {
            lock.unlock();
        }
    }

    /** Bytes of all buffers that were ever allocated. */
    public long allocatedBytes() {
        lock.lock();
        try {
            return allocatedBytes;
        } finally {
            lock.unlock();
        }
    }

    /** True if the call that was to fail has come. */
    public boolean hasFailed() {
        lock.lock();
        try {
            return failAt > 0 && calls >= failAt;
        } finally {
            lock.unlock();
        }
    }

    /** Buffers that were not freed by whoever has allocated them. */
    public long buffers() {
        lock.lock();
        try {
            return buffers.stream()
                    .filter(buffer -> buffer.whole.scope().isAlive())
                    .count();
        } finally {
            lock.unlock();
        }
    }

    /** Fails if a byte around a buffer was written. */
    public void requireGuards() {
        lock.lock();
        try {
            buffers.removeIf(buffer -> !buffer.whole.scope().isAlive());
            buffers.forEach(Buffer::requireGuards);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public MemorySegment allocate(long length, long alignment, Arena arena) {
        called();
        long before = Math.max(alignment, GUARD_BYTES);
        MemorySegment whole = super.allocate(before + length + GUARD_BYTES, alignment, arena);
        whole.asSlice(0, before).fill(GUARD);
        whole.asSlice(before + length).fill(GUARD);
        lock.lock();
        try {
            buffers.add(new Buffer(whole, before, length));
            allocatedBytes += length;
        } finally {
            lock.unlock();
        }
        return whole.asSlice(before, length);
    }

    @Override
    public void copy(long source, long target, long length) {
        called();
        super.copy(source, target, length);
    }

    @Override
    public void copyToPolled(long source, long target, long length) {
        called();
        super.copyToPolled(source, target, length);
    }

    @Override
    public void copyFromPolled(long source, long target, long length) {
        called();
        super.copyFromPolled(source, target, length);
    }

    @Override
    public void publish(long source, long target, int length) {
        called();
        super.publish(source, target, length);
    }

    @Override
    public long fetchAndAdd(long word, long delta, long fields) {
        called();
        return super.fetchAndAdd(word, delta, fields);
    }

    @Override
    public long compareAndSwap(long word, long expected, long compared, long replacement, long replaced) {
        called();
        return super.compareAndSwap(word, expected, compared, replacement, replaced);
    }

    @Override
    PageMemory map(long length, MemorySource source) {
        called();
        return super.map(length, source);
    }

    /** Counts a call, which fails if it is its turn; for calls of other parts of a device that are to fail too. */
    public void called() {
        Supplier<? extends Error> error = null;
        lock.lock();
        try {
            if (!paused && ++calls == failAt) {
                error = failure;
            }
        } finally {
            lock.unlock();
        }
        if (error != null) {
            throw error.get();
        }
    }
}
