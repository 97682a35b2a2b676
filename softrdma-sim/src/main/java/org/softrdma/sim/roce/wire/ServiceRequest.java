package org.softrdma.sim.roce.wire;

import org.softrdma.net.memory.NativeMemory;

/**
 * SIDR_REQ: asks for the datagram queue pair of a service (IBA volume 1, 12.11.1). Big endian; the asking side writes
 * every field. Offsets count from the data of a {@link Mad}.
 *
 * <pre>
 *   +---------------------------------------------------------------+
 *   |  request id                                                   |  0
 *   |  partition key                |  0                            |  4
 *   |  service id, 64 bits                                          |  8
 *   |  private data, 216 bytes: {@link AddressHeader} first                 |  16
 *   +---------------------------------------------------------------+  232
 * </pre>
 *
 * @param requestId comes back in the answer
 * @param partitionKey of the service
 * @param serviceId see {@link AddressHeader#serviceId}
 * @param privateData 216 bytes at most, the address header included
 */
public record ServiceRequest(int requestId, int partitionKey, long serviceId, PrivateData privateData) {
    private static final int ID_OFFSET = 0;
    private static final int PARTITION_OFFSET = ID_OFFSET + Integer.BYTES;
    private static final int SERVICE_OFFSET = PARTITION_OFFSET + Integer.BYTES;
    private static final int PRIVATE_OFFSET = SERVICE_OFFSET + Long.BYTES;
    /** Bytes of private data, with the address header. */
    public static final int PRIVATE_LENGTH = Mad.DATA_LENGTH - PRIVATE_OFFSET;

    /** Reads the data of a MAD. */
    public static ServiceRequest read(long mad) {
        long data = mad + Mad.DATA_OFFSET;
        return new ServiceRequest(
                NativeMemory.getInt(data + ID_OFFSET),
                NativeMemory.getInt(data + PARTITION_OFFSET) >>> Short.SIZE,
                NativeMemory.getLong(data + SERVICE_OFFSET),
                PrivateData.read(data + PRIVATE_OFFSET, PRIVATE_LENGTH));
    }

    /** Writes a whole MAD. */
    public void write(long mad, long transaction) {
        Mad.put(mad, Mad.SERVICE_REQUEST, transaction);
        long data = mad + Mad.DATA_OFFSET;
        NativeMemory.putInt(data + ID_OFFSET, requestId);
        NativeMemory.putInt(data + PARTITION_OFFSET, partitionKey << Short.SIZE);
        NativeMemory.putLong(data + SERVICE_OFFSET, serviceId);
        privateData.write(data + PRIVATE_OFFSET, PRIVATE_LENGTH);
    }
}
