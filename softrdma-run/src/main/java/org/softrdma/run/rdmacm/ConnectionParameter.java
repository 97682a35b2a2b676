package org.softrdma.run.rdmacm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.softrdma.sim.roce.wire.PrivateData;

/**
 * What a program says with CONNECT and ACCEPT, and hears with events, {@code struct rdma_ucm_conn_param}. Host byte order.
 *
 * <pre>
 *    0  number of the queue pair   4 bytes
 *    4  queue key                  4
 *    8  private data             256
 *  264  its length, shared RECVs, READs to serve, READs to send, flow control, retries, RNR retries, valid (1 each)
 *  272
 * </pre>
 *
 * @param servedReads READs and atomics of the peer that are served at a time
 * @param reads READs and atomics to the peer at a time
 * @param rnrRetries 0 to 6; 7 is for ever
 */
record ConnectionParameter(
        int queuePair,
        int queueKey,
        PrivateData data,
        boolean shared,
        int servedReads,
        int reads,
        boolean flowControl,
        int retries,
        int rnrRetries) {
    static final int LENGTH = 272;

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
    private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;
    private static final int DATA_OFFSET = 2 * Integer.BYTES;
    private static final int MOST_DATA = 256;
    private static final int DATA_LENGTH_OFFSET = DATA_OFFSET + MOST_DATA;
    private static final int SHARED_OFFSET = DATA_LENGTH_OFFSET + 1;
    private static final int SERVED_READS_OFFSET = SHARED_OFFSET + 1;
    private static final int READS_OFFSET = SERVED_READS_OFFSET + 1;
    private static final int FLOW_CONTROL_OFFSET = READS_OFFSET + 1;
    private static final int RETRIES_OFFSET = FLOW_CONTROL_OFFSET + 1;
    private static final int RNR_RETRIES_OFFSET = RETRIES_OFFSET + 1;
    private static final int VALID_OFFSET = RNR_RETRIES_OFFSET + 1;
    private static final int MOST_RETRIES = 7;
    private static final int NUMBER_MASK = 0xFF_FFFF;

    /** With nothing but private data. */
    static ConnectionParameter of(PrivateData data) {
        return new ConnectionParameter(0, 0, data, false, 0, 0, false, 0, 0);
    }

    /** Whether the program says anything. */
    static boolean isValid(MemorySegment from, int at) {
        return from.get(BYTE, at + (long) VALID_OFFSET) != 0;
    }

    /** Reads what a program says. */
    static ConnectionParameter read(MemorySegment from, int at) {
        MemorySegment all = from.asSlice(at, LENGTH);
        return new ConnectionParameter(
                all.get(INT, 0) & NUMBER_MASK,
                all.get(INT, Integer.BYTES),
                PrivateData.of(all.asSlice(DATA_OFFSET, unsigned(all, DATA_LENGTH_OFFSET))
                        .toArray(BYTE)),
                unsigned(all, SHARED_OFFSET) != 0,
                unsigned(all, SERVED_READS_OFFSET),
                unsigned(all, READS_OFFSET),
                unsigned(all, FLOW_CONTROL_OFFSET) != 0,
                Math.min(MOST_RETRIES, unsigned(all, RETRIES_OFFSET)),
                Math.min(MOST_RETRIES, unsigned(all, RNR_RETRIES_OFFSET)));
    }

    private static int unsigned(MemorySegment all, int offset) {
        return all.get(BYTE, offset) & 0xFF;
    }

    /** Tells a program. */
    void write(MemorySegment to) {
        to.set(INT, 0, queuePair);
        to.set(INT, Integer.BYTES, queueKey);
        MemorySegment.copy(data.bytes(), 0, to, BYTE, DATA_OFFSET, data.length());
        to.set(BYTE, DATA_LENGTH_OFFSET, (byte) data.length());
        to.set(BYTE, SHARED_OFFSET, (byte) (shared ? 1 : 0));
        to.set(BYTE, SERVED_READS_OFFSET, (byte) servedReads);
        to.set(BYTE, READS_OFFSET, (byte) reads);
        to.set(BYTE, FLOW_CONTROL_OFFSET, (byte) (flowControl ? 1 : 0));
        to.set(BYTE, RETRIES_OFFSET, (byte) retries);
        to.set(BYTE, RNR_RETRIES_OFFSET, (byte) rnrRetries);
    }
}
