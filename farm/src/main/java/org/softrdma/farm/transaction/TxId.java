package org.softrdma.farm.transaction;

import java.nio.ByteBuffer;

/**
 * Names a transaction, for ever: 16 bytes, little endian.
 *
 * <pre>
 *  63            48 47            32 31                            0
 * +----------------+----------------+--------------------------------+
 * |  thread        |  machine       |  epoch                         |   0
 * +----------------+----------------+--------------------------------+
 * |  number                                                          |   8
 * +------------------------------------------------------------------+
 * </pre>
 *
 * @param epoch in which it prepares
 * @param machine of its coordinator
 * @param number of its coordinator's transactions; there is one thread, 0
 */
public record TxId(int epoch, int machine, long number) {
    private static final int EPOCH_OFFSET = 0;
    private static final int MACHINE_OFFSET = EPOCH_OFFSET + Integer.BYTES;
    private static final int THREAD_OFFSET = MACHINE_OFFSET + Short.BYTES;
    private static final int NUMBER_OFFSET = THREAD_OFFSET + Short.BYTES;

    /** Its bytes. */
    public static final int LENGTH = NUMBER_OFFSET + Long.BYTES;

    static TxId at(ByteBuffer message, int offset) {
        return new TxId(
                message.getInt(offset + EPOCH_OFFSET),
                Short.toUnsignedInt(message.getShort(offset + MACHINE_OFFSET)),
                message.getLong(offset + NUMBER_OFFSET));
    }

    void put(ByteBuffer message, int offset) {
        message.putInt(offset + EPOCH_OFFSET, epoch)
                .putShort(offset + MACHINE_OFFSET, (short) machine)
                .putShort(offset + THREAD_OFFSET, (short) 0)
                .putLong(offset + NUMBER_OFFSET, number);
    }
}
