package org.softrdma.run.uverbs;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.softrdma.run.device.RxeDevice;

/**
 * The state of a port, {@code struct ib_uverbs_query_port_resp}, in the machine's order. We write, the program reads. What is not named is
 * zero.
 *
 * <pre>
 *    0  abilities (4)                     28  transfer unit (1)
 *    4  longest message (4)               30  virtual lanes (1)
 *   16  length of the GID table (4)       34  width (1)
 *   20  partition keys (2)                35  speed (1)
 *   26  state (1)                         36  physical state (1)
 *   27  largest transfer unit (1)         37  link layer (1)
 * </pre>
 */
final class PortAttributesDescriptor {
    /** Bytes of it. */
    static final int LENGTH = 40;

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;
    /** {@code IB_PORT_CM_SUP} and IP based GIDs. */
    private static final int ABILITIES = 0x0401_0000;

    private static final int LONGEST_MESSAGE = 1 << 31;
    private static final int DOWN = 1;
    private static final int ACTIVE = 4;
    private static final int DISABLED = 3;
    private static final int LINK_UP = 5;
    private static final int ONE_LANE = 1;
    private static final int SINGLE_DATA_RATE = 1;
    private static final int ETHERNET = 2;

    private PortAttributesDescriptor() {}

    static void write(MemorySegment to, RxeDevice device, boolean isDown) {
        to.set(INT, 0, ABILITIES);
        to.set(INT, 4, LONGEST_MESSAGE);
        to.set(INT, 16, device.gids().size());
        to.set(ValueLayout.JAVA_SHORT, 20, (short) 1);
        to.set(BYTE, 26, (byte) (isDown ? DOWN : ACTIVE));
        to.set(BYTE, 27, (byte) RxeDevice.largestTransferUnitCode());
        to.set(BYTE, 28, (byte) device.transferUnitCode());
        to.set(BYTE, 30, (byte) 1);
        to.set(BYTE, 34, (byte) ONE_LANE);
        to.set(BYTE, 35, (byte) SINGLE_DATA_RATE);
        to.set(BYTE, 36, (byte) (isDown ? DISABLED : LINK_UP));
        to.set(BYTE, 37, (byte) ETHERNET);
    }
}
