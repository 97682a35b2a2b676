package org.softrdma.sim.roce.wire;

import org.softrdma.net.memory.NativeMemory;

/**
 * The two communication ids with which all messages between the ends of a connection begin, and the messages that have
 * little more: MRA, RTU, DREQ and DREP (IBA volume 1, 12.6.6 and 12.6.9 to 12.6.11). Big endian; the sender writes every
 * field. Offsets count from the data of a {@link Mad}. Their private data is not used: it is written as zeroes.
 *
 * <pre>
 *   +---------------------------------------------------------------+
 *   |  communication id of the sender                               |  0
 *   |  communication id of the receiver                             |  4
 *   +---------------+---------------+-------------------------------+
 *   |  MRA: message 2, 0, timeout 5, 0;  DREQ: the receiver's queue pair, 24 bits, 0   |  8
 *   +---------------------------------------------------------------+
 * </pre>
 *
 * @param localId communication id of the sender
 * @param remoteId communication id of the receiver
 */
public record CmIds(int localId, int remoteId) {
    private static final int LOCAL_ID_OFFSET = 0;
    private static final int REMOTE_ID_OFFSET = LOCAL_ID_OFFSET + Integer.BYTES;
    private static final int WORD_OFFSET = REMOTE_ID_OFFSET + Integer.BYTES;

    private static final int MESSAGE_SHIFT = 30;
    private static final int TIMEOUT_SHIFT = 19;
    private static final int FIVE_BITS = 0x1F;

    /** Reads the ids of any message but SIDR_REQ and SIDR_REP; those of a REQ have no second one. */
    public static CmIds read(long mad) {
        long data = mad + Mad.DATA_OFFSET;
        return new CmIds(NativeMemory.getInt(data + LOCAL_ID_OFFSET), NativeMemory.getInt(data + REMOTE_ID_OFFSET));
    }

    /** Writes a whole RTU. */
    public void writeReadyToUse(long mad, long transaction) {
        write(mad, Mad.READY_TO_USE, transaction, 0);
    }

    /** Writes a whole DREQ to the owner of a queue pair. */
    public void writeDisconnectRequest(long mad, long transaction, int queuePair) {
        write(mad, Mad.DISCONNECT_REQUEST, transaction, queuePair << Byte.SIZE);
    }

    /** Writes a whole DREP. */
    public void writeDisconnectReply(long mad, long transaction) {
        write(mad, Mad.DISCONNECT_REPLY, transaction, 0);
    }

    /**
     * Writes a whole MRA.
     *
     * @param mad where
     * @param transaction of what was received
     * @param message 0 for a REQ, 1 for a REP
     * @param timeout t: the answer comes within 4.096 us x 2^t
     */
    public void writeMessageReceipt(long mad, long transaction, int message, int timeout) {
        write(mad, Mad.MESSAGE_RECEIPT, transaction, message << MESSAGE_SHIFT | timeout << TIMEOUT_SHIFT);
    }

    private void write(long mad, int attribute, long transaction, int word) {
        Mad.put(mad, attribute, transaction);
        long data = mad + Mad.DATA_OFFSET;
        NativeMemory.putInt(data + LOCAL_ID_OFFSET, localId);
        NativeMemory.putInt(data + REMOTE_ID_OFFSET, remoteId);
        NativeMemory.putInt(data + WORD_OFFSET, word);
    }

    /** In a DREQ: the number of the receiver's queue pair. */
    public static int queuePair(long mad) {
        return NativeMemory.getInt(mad + Mad.DATA_OFFSET + WORD_OFFSET) >>> Byte.SIZE;
    }

    /** In an MRA: what was received, 0 for a REQ, 1 for a REP. */
    public static int message(long mad) {
        return NativeMemory.getInt(mad + Mad.DATA_OFFSET + WORD_OFFSET) >>> MESSAGE_SHIFT;
    }

    /** In an MRA: t, the answer comes within 4.096 us x 2^t. */
    public static int timeout(long mad) {
        return NativeMemory.getInt(mad + Mad.DATA_OFFSET + WORD_OFFSET) >>> TIMEOUT_SHIFT & FIVE_BITS;
    }
}
