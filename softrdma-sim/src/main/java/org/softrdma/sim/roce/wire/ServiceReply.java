package org.softrdma.sim.roce.wire;

import org.softrdma.net.memory.NativeMemory;

/**
 * SIDR_REP: the answer to a {@link ServiceRequest} (IBA volume 1, 12.11.2). Big endian; the side that offers the service
 * writes every field. Offsets count from the data of a {@link Mad}. Its 72 bytes of additional information are zero.
 *
 * <pre>
 *   31            24 23           16 15                             0
 *   +---------------------------------------------------------------+
 *   |  request id                                                   |  0
 *   |  status       |  length: 0    |  0                            |  4
 *   |  queue pair, 24 bits                          |  0            |  8
 *   |  service id, 64 bits                                          |  12
 *   |  queue key                                                    |  20
 *   |  additional information, 72 bytes                             |  24
 *   |  private data, 136 bytes                                      |  96
 *   +---------------------------------------------------------------+  232
 * </pre>
 *
 * @param requestId of the request
 * @param status one of the constants, or another of the specification
 * @param queuePair number of the queue pair
 * @param serviceId of the request
 * @param queueKey of the queue pair
 * @param privateData 136 bytes at most
 */
public record ServiceReply(
        int requestId, int status, int queuePair, long serviceId, int queueKey, PrivateData privateData) {
    /** Status: the queue pair and its key follow. */
    public static final int VALID = 0;
    /** Status: there is no such service. */
    public static final int NO_SERVICE = 1;
    /** Status: the application refuses. */
    public static final int REJECTED = 2;
    /** Status: no queue pair is to be had. */
    public static final int NO_QUEUE_PAIR = 3;

    private static final int ID_OFFSET = 0;
    private static final int STATUS_OFFSET = ID_OFFSET + Integer.BYTES;
    private static final int QUEUE_PAIR_OFFSET = STATUS_OFFSET + Integer.BYTES;
    private static final int SERVICE_OFFSET = QUEUE_PAIR_OFFSET + Integer.BYTES;
    private static final int QUEUE_KEY_OFFSET = SERVICE_OFFSET + Long.BYTES;
    private static final int INFORMATION_OFFSET = QUEUE_KEY_OFFSET + Integer.BYTES;
    private static final int PRIVATE_OFFSET = INFORMATION_OFFSET + ConnectReject.INFORMATION_LENGTH;
    /** Bytes of private data. */
    public static final int PRIVATE_LENGTH = Mad.DATA_LENGTH - PRIVATE_OFFSET;

    private static final int STATUS_SHIFT = Integer.SIZE - Byte.SIZE;

    /** Reads the data of a MAD. */
    public static ServiceReply read(long mad) {
        long data = mad + Mad.DATA_OFFSET;
        return new ServiceReply(
                NativeMemory.getInt(data + ID_OFFSET),
                NativeMemory.getInt(data + STATUS_OFFSET) >>> STATUS_SHIFT,
                NativeMemory.getInt(data + QUEUE_PAIR_OFFSET) >>> Byte.SIZE,
                NativeMemory.getLong(data + SERVICE_OFFSET),
                NativeMemory.getInt(data + QUEUE_KEY_OFFSET),
                PrivateData.read(data + PRIVATE_OFFSET, PRIVATE_LENGTH));
    }

    /** Writes a whole MAD. */
    public void write(long mad, long transaction) {
        Mad.put(mad, Mad.SERVICE_REPLY, transaction);
        long data = mad + Mad.DATA_OFFSET;
        NativeMemory.putInt(data + ID_OFFSET, requestId);
        NativeMemory.putInt(data + STATUS_OFFSET, status << STATUS_SHIFT);
        NativeMemory.putInt(data + QUEUE_PAIR_OFFSET, queuePair << Byte.SIZE);
        NativeMemory.putLong(data + SERVICE_OFFSET, serviceId);
        NativeMemory.putInt(data + QUEUE_KEY_OFFSET, queueKey);
        privateData.write(data + PRIVATE_OFFSET, PRIVATE_LENGTH);
    }
}
