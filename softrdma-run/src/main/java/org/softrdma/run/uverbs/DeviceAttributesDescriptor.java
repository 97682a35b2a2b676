package org.softrdma.run.uverbs;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.softrdma.run.device.RxeDevice;

/**
 * What a device is and can, {@code struct ib_uverbs_query_device_resp}, and behind it what {@code ib_uverbs_ex_query_device_resp} adds.
 * The machine's order, but for the two GUIDs; the values are those of SoftRoCE. We write, the program reads. What is not named is zero.
 *
 * <pre>
 *    0  firmware (8)                      96  responder's READs, all (4)
 *    8  GUID of the node (8)             100  requester's READs of a queue pair (4)
 *   16  GUID of the system (8)           108  atomicity (4): within the card
 *   24  longest region (8)               120  memory windows (4)
 *   32  page sizes (8)                   132  multicast groups (4)
 *   40  vendor, part, version (4 each)   136  queue pairs in a group (4)
 *   52  queue pairs (4)                  140  queue pairs in all groups (4)
 *   56  requests of one (4)              144  address handles (4)
 *   60  abilities (4)                    156  shared receive queues (4)
 *   64  pieces of a request (4)          160  requests of one (4)
 *   68  of a READ (4)                    164  pieces of one (4)
 *   72  completion queues (4)            168  partition keys (2)
 *   76  completions of one (4)           170  delay of acknowledgements (1)
 *   80  memory regions (4)               171  ports (1)
 *   84  protection domains (4)           176  compatibility (4), length of all (4)
 *   88  responder's READs (4)            224  abilities (8)
 * </pre>
 */
final class DeviceAttributesDescriptor {
    /** Bytes of the first form. */
    static final int LENGTH = 176;

    /** Bytes of the extended form. */
    static final int EXTENDED_LENGTH = 304;

    /** READs and atomics in flight of a queue pair. */
    static final int MOST_READS = 128;

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    private static final ValueLayout.OfLong LONG_BE = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private static final int ABILITIES_OFFSET = 60;
    private static final int RESPONSE_LENGTH_OFFSET = 180;
    private static final int EXTENDED_ABILITIES_OFFSET = 224;

    /** Linux's numbers for bad key counters, port events, system GUIDs, RNR NAKs, SRQ resizing, local fences, windows of both types. */
    private static final int ABILITIES = 0x0122_3C76;

    /** From offset 52: those of 4 bytes, in pairs of offset and value. */
    private static final int[] LIMITS = {
        52,
        0x1_0000, //
        56,
        0x4000, //
        ABILITIES_OFFSET,
        ABILITIES, //
        64,
        32, //
        68,
        32, //
        72,
        0x1_0000, //
        76,
        0x8000 - 1, //
        80,
        0x8_0000, //
        84,
        0x1_0000, //
        88,
        MOST_READS, //
        96,
        0x3_F000, //
        100,
        MOST_READS, //
        108,
        1, //
        120,
        0x1_0000, //
        132,
        8192, //
        136,
        56, //
        140,
        0x7_0000, //
        144,
        0x8000, //
        156,
        0x8000, //
        160,
        0x4000, //
        164,
        27,
    };

    private DeviceAttributesDescriptor() {}

    /** Writes both forms; the first one is the begin. */
    static void write(MemorySegment to, RxeDevice device, int room) {
        to.set(LONG_BE, 8, device.guid());
        to.set(LONG_BE, 16, device.guid());
        to.set(LONG, 24, -1);
        to.set(LONG, 32, 0xFFFF_F000L);
        to.set(INT, 40, 0xFF_FFFF);
        for (int i = 0; i < LIMITS.length; i += 2) {
            to.set(INT, LIMITS[i], LIMITS[i + 1]);
        }
        to.set(ValueLayout.JAVA_SHORT, 168, (short) 64);
        to.set(ValueLayout.JAVA_BYTE, 170, (byte) 15);
        to.set(ValueLayout.JAVA_BYTE, 171, (byte) 1);
        to.set(INT, RESPONSE_LENGTH_OFFSET, Math.min(room, EXTENDED_LENGTH));
        to.set(LONG, EXTENDED_ABILITIES_OFFSET, ABILITIES);
    }
}
