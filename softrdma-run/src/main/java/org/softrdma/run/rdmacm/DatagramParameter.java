package org.softrdma.run.rdmacm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.softrdma.sim.roce.wire.PrivateData;

/**
 * What a program hears of a service of datagrams, {@code struct rdma_ucm_ud_param}. Host byte order; written here.
 *
 * <pre>
 *    0  number of the queue pair   4 bytes
 *    4  queue key                  4
 *    8  {@link GidPath}              32
 *   40  private data             256
 *  296  its length (1), reserved (7)
 *  304
 * </pre>
 */
final class DatagramParameter {
    private static final int PATH_OFFSET = 2 * Integer.BYTES;
    private static final int DATA_OFFSET = PATH_OFFSET + GidPath.LENGTH;
    private static final int DATA_LENGTH_OFFSET = DATA_OFFSET + 256;

    private DatagramParameter() {}

    /** Tells of where datagrams go. */
    static void write(MemorySegment to, int queuePair, int queueKey, GidPath path, PrivateData data) {
        to.set(ValueLayout.JAVA_INT_UNALIGNED, 0, queuePair);
        to.set(ValueLayout.JAVA_INT_UNALIGNED, Integer.BYTES, queueKey);
        path.write(to, PATH_OFFSET);
        writeData(to, data);
    }

    /** Tells of private data only. */
    static void writeData(MemorySegment to, PrivateData data) {
        MemorySegment.copy(data.bytes(), 0, to, ValueLayout.JAVA_BYTE, DATA_OFFSET, data.length());
        to.set(ValueLayout.JAVA_BYTE, DATA_LENGTH_OFFSET, (byte) data.length());
    }
}
