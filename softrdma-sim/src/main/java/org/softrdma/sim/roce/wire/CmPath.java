package org.softrdma.sim.roce.wire;

import org.softrdma.net.memory.NativeMemory;

/**
 * The primary path in a REQ (IBA volume 1, 12.6.5): where the two ends are. Big endian; the active side writes every
 * field. Of the fields of InfiniBand's subnets, the LIDs are 0xFFFF, and service level and subnet bit are 0.
 *
 * <pre>
 *   +-------------------------------+-------------------------------+
 *   |  local LID: 0xFFFF            |  remote LID: 0xFFFF           |  0
 *   |  local GID, 16 bytes                                          |  4
 *   |  remote GID, 16 bytes                                         |  20
 *   +---------------------------------------+-----------+-----------+
 *   |  flow label, 20 bits                  | 0, 6 bits | rate, 6   |  36
 *   +---------------+---------------+-------+-+---------+-----------+
 *   | traffic class |  hop limit    |  0      | timeout, 5 | 0, 3   |  40
 *   +---------------+---------------+---------+---------------------+  44
 * </pre>
 *
 * @param local the active side's address
 * @param remote the passive side's address
 * @param flowLabel 20 bits
 * @param packetRate code of the rate; 3 is 10 Gb/s
 * @param trafficClass of IPv6, or the type of service
 * @param hopLimit of the packets
 * @param acknowledgementTimeout t: 4.096 us x 2^t; the passive side of a kernel uses it for its own queue pair
 */
public record CmPath(
        Gid local,
        Gid remote,
        int flowLabel,
        int packetRate,
        int trafficClass,
        int hopLimit,
        int acknowledgementTimeout) {
    private static final int LIDS_OFFSET = 0;
    private static final int LOCAL_OFFSET = LIDS_OFFSET + Integer.BYTES;
    private static final int REMOTE_OFFSET = LOCAL_OFFSET + Gid.LENGTH;
    private static final int FLOW_OFFSET = REMOTE_OFFSET + Gid.LENGTH;
    private static final int LIMITS_OFFSET = FLOW_OFFSET + Integer.BYTES;
    /** Bytes of a path. */
    static final int LENGTH = LIMITS_OFFSET + Integer.BYTES;

    private static final int NO_LIDS = 0xFFFF_FFFF;
    private static final int FLOW_SHIFT = 12;
    private static final int RATE_MASK = 0x3F;
    private static final int CLASS_SHIFT = 24;
    private static final int HOP_SHIFT = 16;
    private static final int BYTE_MASK = 0xFF;
    private static final int TIMEOUT_SHIFT = 3;
    private static final int TIMEOUT_MASK = 0x1F;

    static CmPath read(long path) {
        int flow = NativeMemory.getInt(path + FLOW_OFFSET);
        int limits = NativeMemory.getInt(path + LIMITS_OFFSET);
        return new CmPath(
                Gid.read(path + LOCAL_OFFSET),
                Gid.read(path + REMOTE_OFFSET),
                flow >>> FLOW_SHIFT,
                flow & RATE_MASK,
                limits >>> CLASS_SHIFT,
                limits >>> HOP_SHIFT & BYTE_MASK,
                limits >>> TIMEOUT_SHIFT & TIMEOUT_MASK);
    }

    void write(long path) {
        NativeMemory.putInt(path + LIDS_OFFSET, NO_LIDS);
        local.write(path + LOCAL_OFFSET);
        remote.write(path + REMOTE_OFFSET);
        NativeMemory.putInt(path + FLOW_OFFSET, flowLabel << FLOW_SHIFT | packetRate);
        NativeMemory.putInt(
                path + LIMITS_OFFSET,
                trafficClass << CLASS_SHIFT | hopLimit << HOP_SHIFT | acknowledgementTimeout << TIMEOUT_SHIFT);
    }
}
