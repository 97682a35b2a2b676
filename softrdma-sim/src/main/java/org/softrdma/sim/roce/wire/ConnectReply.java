package org.softrdma.sim.roce.wire;

import org.softrdma.net.memory.NativeMemory;

/**
 * REP: the answer to a REQ (IBA volume 1, 12.6.8). Big endian; the passive side writes every field. Offsets count from
 * the data of a {@link Mad}. Fields without a name are 0.
 *
 * <pre>
 *   31            24 23           16 15            8 7              0
 *   +---------------------------------------------------------------+
 *   |  communication id                                             |  0
 *   |  communication id of the REQ                                  |  4
 *   |                                                               |  8
 *   |  queue pair, 24 bits                          |               |  12
 *   |  EE context: packets held, 24 bits            |               |  16
 *   |  starting PSN, 24 bits                        |               |  20
 *   |  resources    |  depth        | delay 5 |f 2|c|rnr 3|srq 1|    |  24
 *   |  GUID of the device, 64 bits                                  |  28
 *   |  private data, 196 bytes                                      |  36
 *   +---------------------------------------------------------------+  232
 * </pre>
 *
 * <p>delay: how long the passive side may take to acknowledge. f: whether it takes a failover. c: flow control by
 * credits.
 *
 * @param endpoint the passive side
 * @param remoteId communication id of the REQ
 * @param acknowledgementDelay t: 4.096 us x 2^t
 * @param failover 0 if the alternate path is taken, 1 if it is not supported, 2 if it is refused
 * @param privateData 196 bytes at most
 */
public record ConnectReply(
        CmEndpoint endpoint, int remoteId, int acknowledgementDelay, int failover, PrivateData privateData) {
    private static final int ID_OFFSET = 0;
    private static final int REMOTE_ID_OFFSET = ID_OFFSET + Integer.BYTES;
    private static final int QUEUE_PAIR_OFFSET = REMOTE_ID_OFFSET + 2 * Integer.BYTES;
    private static final int HELD_OFFSET = QUEUE_PAIR_OFFSET + Integer.BYTES;
    private static final int PSN_OFFSET = HELD_OFFSET + Integer.BYTES;
    private static final int LIMITS_OFFSET = PSN_OFFSET + Integer.BYTES;
    private static final int GUID_OFFSET = LIMITS_OFFSET + Integer.BYTES;
    private static final int PRIVATE_OFFSET = GUID_OFFSET + Long.BYTES;
    /** Bytes of private data. */
    public static final int PRIVATE_LENGTH = Mad.DATA_LENGTH - PRIVATE_OFFSET;

    private static final int RESOURCES_SHIFT = 24;
    private static final int DEPTH_SHIFT = 16;
    private static final int DELAY_SHIFT = 11;
    private static final int FAILOVER_SHIFT = 9;
    private static final int FLOW_SHIFT = 8;
    private static final int RNR_SHIFT = 5;
    private static final int SRQ_SHIFT = 4;
    private static final int BYTE_MASK = 0xFF;
    private static final int FIVE_BITS = 0x1F;
    private static final int THREE_BITS = 0x7;
    private static final int TWO_BITS = 0x3;

    /** Reads the data of a MAD. */
    public static ConnectReply read(long mad) {
        long data = mad + Mad.DATA_OFFSET;
        int limits = NativeMemory.getInt(data + LIMITS_OFFSET);
        int context = NativeMemory.getInt(data + HELD_OFFSET) >>> Byte.SIZE;
        CmEndpoint endpoint = new CmEndpoint(
                NativeMemory.getInt(data + ID_OFFSET),
                NativeMemory.getLong(data + GUID_OFFSET),
                NativeMemory.getInt(data + QUEUE_PAIR_OFFSET) >>> Byte.SIZE,
                NativeMemory.getInt(data + PSN_OFFSET) >>> Byte.SIZE,
                limits >>> RESOURCES_SHIFT,
                limits >>> DEPTH_SHIFT & BYTE_MASK,
                (limits >>> FLOW_SHIFT & 1) != 0,
                limits >>> RNR_SHIFT & THREE_BITS,
                (limits >>> SRQ_SHIFT & 1) != 0,
                CmEndpoint.heldPackets(context),
                CmEndpoint.manualProgress(context));
        return new ConnectReply(
                endpoint,
                NativeMemory.getInt(data + REMOTE_ID_OFFSET),
                limits >>> DELAY_SHIFT & FIVE_BITS,
                limits >>> FAILOVER_SHIFT & TWO_BITS,
                PrivateData.read(data + PRIVATE_OFFSET, PRIVATE_LENGTH));
    }

    /** Writes a whole MAD. */
    public void write(long mad, long transaction) {
        Mad.put(mad, Mad.CONNECT_REPLY, transaction);
        long data = mad + Mad.DATA_OFFSET;
        NativeMemory.putInt(data + ID_OFFSET, endpoint.communicationId());
        NativeMemory.putInt(data + REMOTE_ID_OFFSET, remoteId);
        NativeMemory.putInt(data + QUEUE_PAIR_OFFSET, endpoint.queuePair() << Byte.SIZE);
        NativeMemory.putInt(data + HELD_OFFSET, endpoint.context() << Byte.SIZE);
        NativeMemory.putInt(data + PSN_OFFSET, endpoint.startingPsn() << Byte.SIZE);
        NativeMemory.putInt(
                data + LIMITS_OFFSET,
                endpoint.responderResources() << RESOURCES_SHIFT
                        | endpoint.initiatorDepth() << DEPTH_SHIFT
                        | acknowledgementDelay << DELAY_SHIFT
                        | failover << FAILOVER_SHIFT
                        | (endpoint.flowControl() ? 1 : 0) << FLOW_SHIFT
                        | endpoint.rnrRetries() << RNR_SHIFT
                        | (endpoint.sharedReceiveQueue() ? 1 : 0) << SRQ_SHIFT);
        NativeMemory.putLong(data + GUID_OFFSET, endpoint.guid());
        privateData.write(data + PRIVATE_OFFSET, PRIVATE_LENGTH);
    }
}
