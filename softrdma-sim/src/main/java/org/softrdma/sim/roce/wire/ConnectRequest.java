package org.softrdma.sim.roce.wire;

import org.softrdma.net.memory.NativeMemory;

/**
 * REQ: a request for a connection (IBA volume 1, 12.6.5). Big endian; the active side writes every field. Offsets count
 * from the data of a {@link Mad}. Fields without a name are 0.
 *
 * <pre>
 *   31            24 23                             8 7             0
 *   +---------------------------------------------------------------+
 *   |  communication id                                             |  0
 *   |                                                               |  4
 *   |  service id, 64 bits                                          |  8
 *   |  GUID of the device, 64 bits                                  |  16
 *   |                                                               |  24
 *   |                                                               |  28
 *   |  queue pair, 24 bits                          | resources     |  32
 *   |  EE context: packets held, 24 bits            | depth         |  36
 *   |                                | remote timeout 5|type 2|flow 1|  40
 *   |  starting PSN, 24 bits         | local timeout 5 | retries 3   |  44
 *   |  partition key                 |mtu 4|  |rnr 3|cm 4|srq 1|     |  48
 *   |  primary path, see {@link CmPath}, 44 bytes                           |  52
 *   |  alternate path, 44 bytes                                     |  96
 *   |  private data, 92 bytes: {@link AddressHeader} first                  |  140
 *   +---------------------------------------------------------------+  232
 * </pre>
 *
 * @param endpoint the active side
 * @param serviceId what is to be connected to, see {@link AddressHeader#serviceId}
 * @param transport {@link #RELIABLE} or {@link #UNRELIABLE}
 * @param retries how often the passive side repeats before it gives up, 0 to 7
 * @param partitionKey of the connection
 * @param pathMtu code of the transfer unit, 1 to 5: 256 to 4096 bytes
 * @param remoteTimeout t: how long the passive side may take to answer, 4.096 us x 2^t
 * @param localTimeout t: how long the active side may take to answer, alike
 * @param cmRetries how often messages of the connection manager are repeated, 0 to 15
 * @param path between the two
 * @param privateData 92 bytes at most, the address header included
 */
public record ConnectRequest(
        CmEndpoint endpoint,
        long serviceId,
        int transport,
        int retries,
        int partitionKey,
        int pathMtu,
        int remoteTimeout,
        int localTimeout,
        int cmRetries,
        CmPath path,
        PrivateData privateData) {
    /** Transport: RC. */
    public static final int RELIABLE = 0;
    /** Transport: UC. */
    public static final int UNRELIABLE = 1;

    private static final int ID_OFFSET = 0;
    private static final int SERVICE_OFFSET = ID_OFFSET + 2 * Integer.BYTES;
    private static final int GUID_OFFSET = SERVICE_OFFSET + Long.BYTES;
    private static final int QUEUE_PAIR_OFFSET = GUID_OFFSET + Long.BYTES + 2 * Integer.BYTES;
    private static final int DEPTH_OFFSET = QUEUE_PAIR_OFFSET + Integer.BYTES;
    private static final int TYPE_OFFSET = DEPTH_OFFSET + Integer.BYTES;
    private static final int PSN_OFFSET = TYPE_OFFSET + Integer.BYTES;
    private static final int PARTITION_OFFSET = PSN_OFFSET + Integer.BYTES;
    private static final int PATH_OFFSET = PARTITION_OFFSET + Integer.BYTES;
    private static final int PRIVATE_OFFSET = PATH_OFFSET + 2 * CmPath.LENGTH;
    /** Bytes of private data, with the address header. */
    public static final int PRIVATE_LENGTH = Mad.DATA_LENGTH - PRIVATE_OFFSET;

    private static final int BYTE_MASK = 0xFF;
    private static final int TYPE_MASK = 0x3;
    private static final int FIVE_BITS = 0x1F;
    private static final int THREE_BITS = 0x7;
    private static final int FOUR_BITS = 0xF;
    private static final int MTU_SHIFT = 12;
    private static final int RNR_SHIFT = 8;
    private static final int CM_RETRIES_SHIFT = 4;
    private static final int SRQ_SHIFT = 3;

    /** The same with another active side. */
    public ConnectRequest from(CmEndpoint newEndpoint) {
        return new ConnectRequest(
                newEndpoint,
                serviceId,
                transport,
                retries,
                partitionKey,
                pathMtu,
                remoteTimeout,
                localTimeout,
                cmRetries,
                path,
                privateData);
    }

    /** Reads the data of a MAD. */
    public static ConnectRequest read(long mad) {
        long data = mad + Mad.DATA_OFFSET;
        int queuePair = NativeMemory.getInt(data + QUEUE_PAIR_OFFSET);
        int depth = NativeMemory.getInt(data + DEPTH_OFFSET);
        int type = NativeMemory.getInt(data + TYPE_OFFSET);
        int psn = NativeMemory.getInt(data + PSN_OFFSET);
        int partition = NativeMemory.getInt(data + PARTITION_OFFSET);
        CmEndpoint endpoint = new CmEndpoint(
                NativeMemory.getInt(data + ID_OFFSET),
                NativeMemory.getLong(data + GUID_OFFSET),
                queuePair >>> Byte.SIZE,
                psn >>> Byte.SIZE,
                queuePair & BYTE_MASK,
                depth & BYTE_MASK,
                (type & 1) != 0,
                partition >>> RNR_SHIFT & THREE_BITS,
                (partition >>> SRQ_SHIFT & 1) != 0,
                CmEndpoint.heldPackets(depth >>> Byte.SIZE),
                CmEndpoint.manualProgress(depth >>> Byte.SIZE));
        return new ConnectRequest(
                endpoint,
                NativeMemory.getLong(data + SERVICE_OFFSET),
                type >>> 1 & TYPE_MASK,
                psn & THREE_BITS,
                partition >>> Short.SIZE,
                partition >>> MTU_SHIFT & FOUR_BITS,
                type >>> 3 & FIVE_BITS,
                psn >>> 3 & FIVE_BITS,
                partition >>> CM_RETRIES_SHIFT & FOUR_BITS,
                CmPath.read(data + PATH_OFFSET),
                PrivateData.read(data + PRIVATE_OFFSET, PRIVATE_LENGTH));
    }

    /** Writes a whole MAD. */
    public void write(long mad, long transaction) {
        Mad.put(mad, Mad.CONNECT_REQUEST, transaction);
        long data = mad + Mad.DATA_OFFSET;
        NativeMemory.putInt(data + ID_OFFSET, endpoint.communicationId());
        NativeMemory.putLong(data + SERVICE_OFFSET, serviceId);
        NativeMemory.putLong(data + GUID_OFFSET, endpoint.guid());
        NativeMemory.putInt(
                data + QUEUE_PAIR_OFFSET, endpoint.queuePair() << Byte.SIZE | endpoint.responderResources());
        NativeMemory.putInt(data + DEPTH_OFFSET, endpoint.context() << Byte.SIZE | endpoint.initiatorDepth());
        NativeMemory.putInt(data + TYPE_OFFSET, remoteTimeout << 3 | transport << 1 | (endpoint.flowControl() ? 1 : 0));
        NativeMemory.putInt(data + PSN_OFFSET, endpoint.startingPsn() << Byte.SIZE | localTimeout << 3 | retries);
        NativeMemory.putInt(
                data + PARTITION_OFFSET,
                partitionKey << Short.SIZE
                        | pathMtu << MTU_SHIFT
                        | endpoint.rnrRetries() << RNR_SHIFT
                        | cmRetries << CM_RETRIES_SHIFT
                        | (endpoint.sharedReceiveQueue() ? 1 : 0) << SRQ_SHIFT);
        path.write(data + PATH_OFFSET);
        privateData.write(data + PRIVATE_OFFSET, PRIVATE_LENGTH);
    }
}
