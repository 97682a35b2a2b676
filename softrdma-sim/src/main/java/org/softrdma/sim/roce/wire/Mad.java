package org.softrdma.sim.roce.wire;

import org.softrdma.net.memory.NativeMemory;

/**
 * The header of a message of the connection manager: a management datagram of class 7, the payload of a UD packet from
 * queue pair 1 to queue pair 1 with {@link #QUEUE_KEY} (IBA volume 1, 13.4.2 and 12.6). Big endian; the sender writes
 * every field, and answers echo the transaction.
 *
 * <pre>
 *   31            24 23           16 15            8 7              0
 *   +---------------+---------------+---------------+---------------+
 *   |  base: 1      |  class: 7     |  version: 2   |  method: 3    |  0
 *   |  status: 0                    |  class specific: 0            |  4
 *   |  transaction, 64 bits                                         |  8
 *   |  attribute                    |  0                            |  16
 *   |  modifier: 0                                                  |  20
 *   |  data, 232 bytes                                              |  24
 *   +---------------------------------------------------------------+  256
 * </pre>
 */
public final class Mad {
    /** The queue pair of the connection managers. */
    public static final int QUEUE_PAIR = 1;
    /** The queue key of that queue pair. */
    public static final int QUEUE_KEY = 0x8001_0000;

    /** Base version, class, class version and method. */
    public static final int KIND_OFFSET = 0;
    /** Status and a class specific field. */
    public static final int STATUS_OFFSET = KIND_OFFSET + Integer.BYTES;
    /** Chosen by whoever begins an exchange. */
    public static final int TRANSACTION_OFFSET = STATUS_OFFSET + Integer.BYTES;
    /** What kind of message it is. */
    public static final int ATTRIBUTE_OFFSET = TRANSACTION_OFFSET + Long.BYTES;
    /** Attribute modifier. */
    public static final int MODIFIER_OFFSET = ATTRIBUTE_OFFSET + Integer.BYTES;
    /** The message itself. */
    public static final int DATA_OFFSET = MODIFIER_OFFSET + Integer.BYTES;
    /** Bytes of the message. */
    public static final int DATA_LENGTH = 232;
    /** Bytes of the whole. */
    public static final int LENGTH = DATA_OFFSET + DATA_LENGTH;

    /** Attribute: REQ, a request for a connection. */
    public static final int CONNECT_REQUEST = 0x10;
    /** Attribute: MRA, a message was received, and its answer takes time. */
    public static final int MESSAGE_RECEIPT = 0x11;
    /** Attribute: REJ, a message is refused. */
    public static final int CONNECT_REJECT = 0x12;
    /** Attribute: REP, the answer to a REQ. */
    public static final int CONNECT_REPLY = 0x13;
    /** Attribute: RTU, the answer to a REP. */
    public static final int READY_TO_USE = 0x14;
    /** Attribute: DREQ, a request to disconnect. */
    public static final int DISCONNECT_REQUEST = 0x15;
    /** Attribute: DREP, the answer to a DREQ. */
    public static final int DISCONNECT_REPLY = 0x16;
    /** Attribute: SIDR_REQ, which asks for the datagram queue pair of a service. */
    public static final int SERVICE_REQUEST = 0x17;
    /** Attribute: SIDR_REP, the answer to it. */
    public static final int SERVICE_REPLY = 0x18;

    /** Base version 1, class 7 (communication management), class version 2, method 3 (send). */
    private static final int KIND = 0x0107_0203;

    private Mad() {}

    /**
     * Writes the header, and zeroes in the place of the data.
     *
     * @param mad where, {@link #LENGTH} bytes
     * @param attribute what kind of message it is
     * @param transaction of the exchange
     */
    public static void put(long mad, int attribute, long transaction) {
        NativeMemory.clear(mad, LENGTH);
        NativeMemory.putInt(mad + KIND_OFFSET, KIND);
        NativeMemory.putLong(mad + TRANSACTION_OFFSET, transaction);
        NativeMemory.putShort(mad + ATTRIBUTE_OFFSET, attribute);
    }

    /**
     * True for a message of the connection manager. Comes before every other look at it.
     *
     * @param mad the payload of a packet to queue pair 1
     * @param length its bytes
     */
    public static boolean isValid(long mad, int length) {
        return length == LENGTH && NativeMemory.getInt(mad + KIND_OFFSET) == KIND;
    }

    /** What kind of message it is, perhaps none that there is. */
    public static int attribute(long mad) {
        return NativeMemory.getShort(mad + ATTRIBUTE_OFFSET) & 0xFFFF;
    }

    /** The transaction, which an answer repeats. */
    public static long transaction(long mad) {
        return NativeMemory.getLong(mad + TRANSACTION_OFFSET);
    }
}
