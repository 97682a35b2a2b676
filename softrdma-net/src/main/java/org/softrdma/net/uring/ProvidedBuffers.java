package org.softrdma.net.uring;

import java.io.IOException;
import java.lang.foreign.Arena;
import org.softrdma.net.memory.BufferOperations;
import org.softrdma.net.memory.NativeMemory;

/**
 * The buffers that multishot receives of one ring fill: a fixed number of fixed size, so that what all peers together
 * send ahead is bounded. The kernel takes one when bytes come; it belongs to the port that received until it is given
 * back.
 *
 * <pre>
 *   struct io_uring_buf, written by this process
 *   address, 8 | length, 4 | id, 2 | in the first entry: tail of the ring, 2
 * </pre>
 *
 * <p>Thread: the ring's.
 */
final class ProvidedBuffers implements AutoCloseable {
    /** Id of the group; the only one. */
    static final int GROUP = 0;

    /** No buffer. */
    static final int NONE = -1;

    private static final int REGISTER_PBUF_RING = 22;
    // struct io_uring_buf_reg: ring address, 8 | entries, 4 | group, 2, flags, 2 | reserved, 24
    private static final int REGISTRATION_ENTRIES = Long.BYTES;
    private static final int REGISTRATION_BYTES = REGISTRATION_ENTRIES + 4 * Long.BYTES;

    private static final int LENGTH_OFFSET = Long.BYTES;
    private static final int ID_OFFSET = LENGTH_OFFSET + Integer.BYTES;
    private static final int TAIL_OFFSET = ID_OFFSET + Short.BYTES;
    private static final int ENTRY_BYTES = TAIL_OFFSET + Short.BYTES;
    private static final int PAGE = 4096;
    /**
     * Between two buffers. Messages are short, so most accesses are to the start of a buffer: without this they would all
     * compete for the same few lines of the cache.
     */
    private static final int SPREAD_BYTES = 64;

    private final Arena arena = Arena.ofShared();
    private final long ring;
    private final long memory;
    private final int mask;
    private final int bytes;
    /** Of each buffer that a port holds: the next one it holds. */
    private final int[] next;
    /** Bytes that have come. */
    private final int[] lengths;

    private int tail;
    private int held;

    /**
     * Provides all of them.
     *
     * @param operations allocate them
     * @param owner ring
     * @param count a power of two, at most 32768
     * @param bytes of each
     * @throws IOException if the kernel refuses
     */
    ProvidedBuffers(BufferOperations operations, Ring owner, int count, int bytes) throws IOException {
        this.bytes = bytes;
        mask = count - 1;
        next = new int[count];
        lengths = new int[count];
        try {
            ring = operations.allocate((long) count * ENTRY_BYTES, PAGE, arena).address();
            memory = operations
                    .allocate((long) count * (bytes + SPREAD_BYTES), PAGE, arena)
                    .address();
            long registration =
                    operations.allocate(REGISTRATION_BYTES, Long.BYTES, arena).address();
            NativeMemory.putNativeLong(registration, ring);
            NativeMemory.putNativeInt(registration + REGISTRATION_ENTRIES, count);
            NativeMemory.putNativeInt(registration + REGISTRATION_ENTRIES + Integer.BYTES, GROUP);
            owner.register(REGISTER_PBUF_RING, registration);
        } catch (IOException | RuntimeException | Error e) {
            arena.close();
            throw e;
        }
        held = count;
        for (int id = 0; id < count; id++) {
            giveBack(id);
        }
    }

    /** The kernel has filled a buffer. */
    void taken(int id, int length) {
        held++;
        next[id] = NONE;
        lengths[id] = length;
    }

    /** Buffers that ports hold. */
    int held() {
        return held;
    }

    /** The kernel may fill it again. */
    void giveBack(int id) {
        held--;
        long entry = ring + (long) (tail & mask) * ENTRY_BYTES;
        NativeMemory.putNativeLong(entry, address(id));
        NativeMemory.putNativeInt(entry + LENGTH_OFFSET, bytes);
        NativeMemory.putNativeShort(entry + ID_OFFSET, id);
        tail++;
        NativeMemory.putShortRelease(ring + TAIL_OFFSET, (short) tail); // read by the kernel, by acquire
    }

    long address(int id) {
        return memory + (long) id * (bytes + SPREAD_BYTES);
    }

    int length(int id) {
        return lengths[id];
    }

    int next(int id) {
        return next[id];
    }

    void link(int id, int following) {
        next[id] = following;
    }

    /** After the ring is closed, so that nothing fills them. */
    @Override
    public void close() {
        arena.close();
    }
}
