package org.softrdma.run.rdmacm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * What a program is to set for a state of its queue pair, {@code struct ib_uverbs_qp_attr}, and which of it. Host byte order; written
 * here; what is not named is zero.
 *
 * <pre>
 *    0  mask                                                        4 bytes
 *    4  state, current state                                        4 each
 *   12  transfer unit, path migration, queue key                    4 each
 *   24  first PSN to receive and to send, peer's number, rights     4 each
 *   40  {@link GidPath}                                                       32
 *   72  other path                                                 32
 *  104  limits                                                     20
 *  124  indexes of keys                                             2 each
 *  128  drained event, draining                                     1 each
 *  130  READs to send and to serve, RNR timer, port                 1 each
 *  134  timeout, retries, RNR retries                               1 each
 *  137  of the other path, reserved                                 7
 *  144
 * </pre>
 */
final class PairAttributesDescriptor {
    static final int LENGTH = 144;
    static final int INIT = 1;
    static final int RTR = 2;
    static final int RTS = 3;
    /** The last state. */
    static final int ERR = 6;

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
    private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;

    private static final int STATE = 1;
    private static final int ACCESS = 1 << 3;
    private static final int PARTITION_KEY = 1 << 4;
    private static final int PORT = 1 << 5;
    private static final int QUEUE_KEY = 1 << 6;
    private static final int PATH = 1 << 7;
    private static final int TRANSFER_UNIT = 1 << 8;
    private static final int TIMEOUT = 1 << 9;
    private static final int RETRIES = 1 << 10;
    private static final int RNR_RETRIES = 1 << 11;
    private static final int RECEIVE_PSN = 1 << 12;
    private static final int READS = 1 << 13;
    private static final int RNR_TIMER = 1 << 15;
    private static final int SEND_PSN = 1 << 16;
    private static final int SERVED_READS = 1 << 17;
    private static final int PEER = 1 << 20;

    private static final int REMOTE_WRITE = 1 << 1;
    private static final int REMOTE_READ_AND_ATOMIC = 1 << 2 | 1 << 3;

    private static final int STATE_OFFSET = 4;
    private static final int TRANSFER_UNIT_OFFSET = 12;
    private static final int QUEUE_KEY_OFFSET = 20;
    private static final int RECEIVE_PSN_OFFSET = 24;
    private static final int SEND_PSN_OFFSET = 28;
    private static final int PEER_OFFSET = 32;
    private static final int ACCESS_OFFSET = 36;
    private static final int PATH_OFFSET = 40;
    private static final int READS_OFFSET = 130;
    private static final int SERVED_READS_OFFSET = 131;
    private static final int PORT_OFFSET = 133;
    private static final int TIMEOUT_OFFSET = 134;
    private static final int RETRIES_OFFSET = 135;
    private static final int RNR_RETRIES_OFFSET = 136;

    private PairAttributesDescriptor() {}

    /** Of a queue pair whose id has no connection yet: the peer may do nothing. */
    static void writeUnconnected(MemorySegment to, int state) {
        begin(to, state, STATE | PARTITION_KEY | PORT | ACCESS);
        to.set(BYTE, PORT_OFFSET, (byte) 1);
    }

    /** Of a queue pair of datagrams. */
    static void writeDatagrams(MemorySegment to, int state, int queueKey) {
        begin(to, state, STATE | PARTITION_KEY | PORT | QUEUE_KEY);
        to.set(BYTE, PORT_OFFSET, (byte) 1);
        to.set(INT, QUEUE_KEY_OFFSET, queueKey);
    }

    /** INIT, of a connection. */
    static void writeInit(MemorySegment to, int servedReads) {
        begin(to, INIT, STATE | PARTITION_KEY | PORT | ACCESS);
        to.set(BYTE, PORT_OFFSET, (byte) 1);
        to.set(INT, ACCESS_OFFSET, REMOTE_WRITE | (servedReads == 0 ? 0 : REMOTE_READ_AND_ATOMIC));
    }

    /**
     * RTR.
     *
     * @param unitCode transfer unit, 1 to 5
     * @param peer number of its queue pair
     * @param psn first one that the peer sends
     */
    static void writeReadyToReceive(MemorySegment to, GidPath path, int unitCode, int peer, int psn, int servedReads) {
        begin(to, RTR, STATE | PATH | TRANSFER_UNIT | PEER | RECEIVE_PSN | SERVED_READS | RNR_TIMER);
        path.write(to, PATH_OFFSET);
        to.set(INT, TRANSFER_UNIT_OFFSET, unitCode);
        to.set(INT, PEER_OFFSET, peer);
        to.set(INT, RECEIVE_PSN_OFFSET, psn);
        to.set(BYTE, SERVED_READS_OFFSET, (byte) servedReads);
    }

    /**
     * RTS.
     *
     * @param psn first one that this side sends
     * @param timeout 4.096 us x 2^timeout
     */
    static void writeReadyToSend(MemorySegment to, int psn, int reads, int timeout, int retries, int rnrRetries) {
        begin(to, RTS, STATE | SEND_PSN | READS | TIMEOUT | RETRIES | RNR_RETRIES);
        to.set(INT, SEND_PSN_OFFSET, psn);
        to.set(BYTE, READS_OFFSET, (byte) reads);
        to.set(BYTE, TIMEOUT_OFFSET, (byte) timeout);
        to.set(BYTE, RETRIES_OFFSET, (byte) retries);
        to.set(BYTE, RNR_RETRIES_OFFSET, (byte) rnrRetries);
    }

    private static void begin(MemorySegment to, int state, int mask) {
        to.set(INT, 0, mask);
        to.set(INT, STATE_OFFSET, state);
    }
}
