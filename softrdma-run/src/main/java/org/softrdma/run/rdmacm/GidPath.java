package org.softrdma.run.rdmacm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.softrdma.sim.roce.wire.Gid;

/**
 * From a GID of this host to one of a peer, as programs get it: {@code struct ib_uverbs_ah_attr} and {@code struct ib_user_path_rec}.
 * GIDs are big endian, and the key of the second; the rest is in host byte order.
 *
 * <pre>
 *   address of packets, 32 bytes                      record of a path, 64 bytes
 *    0  peer's GID                     16              0  peer's GID                         16
 *   16  flow label                      4             16  own GID                            16
 *   20  index of the own GID            1             32  LIDs: 0                             4
 *   21  hop limit, class, reserved      1 each        36  raw traffic, flow label: 0          4 each
 *   24  LID: 0                          2             44  reversible                          4
 *   26  service level, path bits, rate  1 each        48  transfer unit, 1 to 5               4
 *   29  has GIDs                        1             52  partition key                       2
 *   30  port                            1             54  hop limit, class                    1 each
 *   31  reserved                                      56  number, service level               1 each
 *                                                     58  selectors of unit and rate, rate    1 each
 *                                                     61  selector of the lifetime, lifetime  1 each
 * </pre>
 *
 * @param ownIndex of the own GID in the device's table
 * @param trafficClass type of service
 */
record GidPath(Gid own, int ownIndex, Gid peer, int trafficClass) {
    static final int LENGTH = 32;
    static final int RECORD_LENGTH = 64;
    /** 4.096 us x 2^18, as rdma_cm takes it for every network. */
    static final int LIFETIME = 18;
    /** The only partition that RoCE has. */
    static final short PARTITION = (short) 0xFFFF;

    private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
    private static final ValueLayout.OfLong LONG_BE = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final int INDEX_OFFSET = 20;
    private static final int HOP_LIMIT_OFFSET = 21;
    private static final int CLASS_OFFSET = 22;
    private static final int HAS_GIDS_OFFSET = 29;
    private static final int PORT_OFFSET = 30;
    private static final int REVERSIBLE_OFFSET = 44;
    private static final int UNIT_OFFSET = 48;
    private static final int PARTITION_OFFSET = 52;
    private static final int RECORD_HOP_LIMIT_OFFSET = 54;
    private static final int RECORD_CLASS_OFFSET = 55;
    private static final int NUMBER_OFFSET = 56;
    private static final int UNIT_SELECTOR_OFFSET = 58;
    private static final int RATE_SELECTOR_OFFSET = 59;
    private static final int RATE_OFFSET = 60;
    private static final int LIFETIME_SELECTOR_OFFSET = 61;
    private static final int LIFETIME_OFFSET = 62;
    private static final int HOP_LIMIT = 64;
    private static final int EXACTLY = 2;
    private static final int RATE_10_GIGABIT = 3;

    /** As an address of packets. */
    void write(MemorySegment to, int at) {
        writeGid(to, at, peer);
        set(to, at + INDEX_OFFSET, ownIndex);
        set(to, at + HOP_LIMIT_OFFSET, HOP_LIMIT);
        set(to, at + CLASS_OFFSET, trafficClass);
        set(to, at + HAS_GIDS_OFFSET, 1);
        set(to, at + PORT_OFFSET, 1);
    }

    /**
     * As the record of a path.
     *
     * @param unitCode transfer unit as verbs number it; 0 for a path that is not resolved
     */
    void writeRecord(MemorySegment to, int at, int unitCode) {
        writeGid(to, at, peer);
        writeGid(to, at + Gid.LENGTH, own);
        to.set(ValueLayout.JAVA_SHORT_UNALIGNED, at + PARTITION_OFFSET, PARTITION);
        if (unitCode != 0) {
            to.set(INT, at + REVERSIBLE_OFFSET, 1);
            to.set(INT, at + UNIT_OFFSET, unitCode);
            set(to, at + RECORD_HOP_LIMIT_OFFSET, HOP_LIMIT);
            set(to, at + RECORD_CLASS_OFFSET, trafficClass);
            set(to, at + NUMBER_OFFSET, 1);
            set(to, at + UNIT_SELECTOR_OFFSET, EXACTLY);
            set(to, at + RATE_SELECTOR_OFFSET, EXACTLY);
            set(to, at + RATE_OFFSET, RATE_10_GIGABIT);
            set(to, at + LIFETIME_SELECTOR_OFFSET, EXACTLY);
            set(to, at + LIFETIME_OFFSET, LIFETIME);
        }
    }

    private static void writeGid(MemorySegment to, int at, Gid gid) {
        to.set(LONG_BE, at, gid.high());
        to.set(LONG_BE, at + Long.BYTES, gid.low());
    }

    private static void set(MemorySegment to, int at, int value) {
        to.set(BYTE, at, (byte) value);
    }
}
