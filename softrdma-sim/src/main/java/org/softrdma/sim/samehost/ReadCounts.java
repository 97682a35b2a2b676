package org.softrdma.sim.samehost;

import java.io.IOException;
import org.softrdma.net.kernel.SealedMemory;
import org.softrdma.net.memory.NativeMemory;

/**
 * What the requester has read on one connection, in a page that the responder can see, so that its counters stay true
 * without a message. Two writers, each with its own cache line; the responder reads whenever it likes.
 *
 * <pre>
 *   native byte order
 *     0  READs by posting threads    8  their bytes
 *    64  READs by the engine        72  their bytes
 * </pre>
 */
final class ReadCounts implements AutoCloseable {
    /** Bytes of the page. */
    static final int BYTES = 4096;

    private static final int LINE = 64;
    /** What is used of the page. */
    static final int USED_BYTES = 2 * LINE;

    /** No connection reads as much; what is claimed beyond that is not believed, and sums do not overflow. */
    private static final long MOST = 1L << 50;

    private final SealedMemory page;

    /** A page with nothing read. */
    ReadCounts() throws IOException {
        page = SealedMemory.create("softrdma reads", BYTES);
    }

    /** The descriptor for the responder. */
    int descriptor() {
        return page.descriptor();
    }

    /** Something was read. */
    void count(ReadingThread reader, long length) {
        long at = page.address() + (long) reader.ordinal() * LINE;
        NativeMemory.putNativeLong(at, NativeMemory.getNativeLong(at) + 1);
        NativeMemory.putNativeLong(at + Long.BYTES, NativeMemory.getNativeLong(at + Long.BYTES) + length);
    }

    /** The page, which belongs to this process and is there. */
    long address() {
        return page.address();
    }

    long reads() {
        return reads(page.address());
    }

    long bytes() {
        return bytes(page.address());
    }

    /** READs on the page of a peer. */
    static long reads(long page) {
        return sum(page);
    }

    /** Bytes on the page of a peer. */
    static long bytes(long page) {
        return sum(page + Long.BYTES);
    }

    private static long sum(long at) {
        return believable(NativeMemory.getWordAcquire(at)) + believable(NativeMemory.getWordAcquire(at + LINE));
    }

    private static long believable(long number) {
        return Math.clamp(number, 0, MOST);
    }

    @Override
    public void close() {
        page.close();
    }
}
