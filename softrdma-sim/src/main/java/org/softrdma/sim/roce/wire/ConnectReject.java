package org.softrdma.sim.roce.wire;

import org.softrdma.net.memory.NativeMemory;

/**
 * REJ: a REQ or REP is refused, or a connection that is being made is given up (IBA volume 1, 12.6.7). Big endian; the
 * sender writes every field. Offsets count from the data of a {@link Mad}.
 *
 * <pre>
 *   31            24 23           16 15                             0
 *   +---------------------------------------------------------------+
 *   |  communication id, 0 if there is none yet                     |  0
 *   |  communication id of the other side                           |  4
 *   | message 2 | 0 | length 7 | 0 |  reason                        |  8
 *   |  additional information, 72 bytes                             |  12
 *   |  private data, 148 bytes                                      |  84
 *   +---------------------------------------------------------------+  232
 * </pre>
 *
 * @param localId communication id of the sender, 0 if it has none yet
 * @param remoteId communication id of the receiver
 * @param message {@link #OF_REQUEST}, {@link #OF_REPLY} or {@link #OF_NEITHER}
 * @param reason one of the constants, or another of the specification
 * @param information 72 bytes at most, which depend on the reason
 * @param privateData 148 bytes at most
 */
public record ConnectReject(
        int localId, int remoteId, int message, int reason, PrivateData information, PrivateData privateData) {
    /** What is refused: a REQ. */
    public static final int OF_REQUEST = 0;
    /** What is refused: a REP. */
    public static final int OF_REPLY = 1;
    /** What is refused: no message. */
    public static final int OF_NEITHER = 2;

    /** Reason: no queue pair is to be had. */
    public static final int NO_QUEUE_PAIR = 1;
    /** Reason: something else is not to be had. */
    public static final int NO_RESOURCES = 3;
    /** Reason: the answer did not come in time. */
    public static final int TIMEOUT = 4;
    /** Reason: the request is not supported. */
    public static final int UNSUPPORTED = 5;
    /** Reason: there is no connection with that communication id. */
    public static final int INVALID_COMMUNICATION_ID = 6;
    /** Reason: nobody listens. */
    public static final int INVALID_SERVICE = 8;
    /** Reason: the transport is not that of the service. */
    public static final int INVALID_TRANSPORT = 9;
    /** Reason: the sender of the REQ has a connection with the same numbers. */
    public static final int STALE_CONNECTION = 10;
    /** Reason: the remote GID is not one of this port. */
    public static final int INVALID_GID = 12;
    /** Reason: the transfer unit is not supported. */
    public static final int INVALID_MTU = 26;
    /** Reason: the application refuses; the private data is its own. */
    public static final int BY_CONSUMER = 28;

    private static final int LOCAL_ID_OFFSET = 0;
    private static final int REMOTE_ID_OFFSET = LOCAL_ID_OFFSET + Integer.BYTES;
    private static final int REASON_OFFSET = REMOTE_ID_OFFSET + Integer.BYTES;
    private static final int INFORMATION_OFFSET = REASON_OFFSET + Integer.BYTES;
    /** Bytes of additional information. */
    public static final int INFORMATION_LENGTH = 72;

    private static final int PRIVATE_OFFSET = INFORMATION_OFFSET + INFORMATION_LENGTH;
    /** Bytes of private data. */
    public static final int PRIVATE_LENGTH = Mad.DATA_LENGTH - PRIVATE_OFFSET;

    private static final int MESSAGE_SHIFT = 30;
    private static final int LENGTH_SHIFT = 17;
    private static final int SEVEN_BITS = 0x7F;
    private static final int REASON_MASK = 0xFFFF;

    /** Reads the data of a MAD; information that claims to be longer than its field is cut to it. */
    public static ConnectReject read(long mad) {
        long data = mad + Mad.DATA_OFFSET;
        int word = NativeMemory.getInt(data + REASON_OFFSET);
        int length = Math.min(word >>> LENGTH_SHIFT & SEVEN_BITS, INFORMATION_LENGTH);
        return new ConnectReject(
                NativeMemory.getInt(data + LOCAL_ID_OFFSET),
                NativeMemory.getInt(data + REMOTE_ID_OFFSET),
                word >>> MESSAGE_SHIFT,
                word & REASON_MASK,
                PrivateData.read(data + INFORMATION_OFFSET, length),
                PrivateData.read(data + PRIVATE_OFFSET, PRIVATE_LENGTH));
    }

    /** Writes a whole MAD. */
    public void write(long mad, long transaction) {
        Mad.put(mad, Mad.CONNECT_REJECT, transaction);
        long data = mad + Mad.DATA_OFFSET;
        NativeMemory.putInt(data + LOCAL_ID_OFFSET, localId);
        NativeMemory.putInt(data + REMOTE_ID_OFFSET, remoteId);
        NativeMemory.putInt(
                data + REASON_OFFSET, message << MESSAGE_SHIFT | information.length() << LENGTH_SHIFT | reason);
        information.write(data + INFORMATION_OFFSET, INFORMATION_LENGTH);
        privateData.write(data + PRIVATE_OFFSET, PRIVATE_LENGTH);
    }
}
