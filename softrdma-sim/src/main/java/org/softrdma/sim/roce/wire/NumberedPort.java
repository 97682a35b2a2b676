package org.softrdma.sim.roce.wire;

/**
 * UDP ports that the numbers of queue pairs name, so that whoever knows a peer as SoftRoCE's programs do, by GID and number
 * alone, finds it beside others on one address. A device whose {@code roce-port} is one of {@value #COUNT} ports has
 * numbers of its own; all others, kernels and cards as well, are at port 4791, and so are multicast groups. SoftRoCE's
 * numbers are below 2^17.
 *
 * <pre>
 *   number   1 1 1 1  p p p p p p p p  n n n n n n n n n n n n      port 0x8000 + p, p from 1 to 255
 * </pre>
 */
public final class NumberedPort {
    /** How many there are. */
    public static final int COUNT = 255;

    private static final int BASE_PORT = 0x8000;
    private static final int BASE_NUMBER = 0xF0_0000;
    private static final int NUMBER_BITS = 12;
    private static final int PORT_MASK = 0xFF;

    /** The numbers below belong to connection managers. */
    private static final int LEAST_NUMBER = 2;

    private NumberedPort() {}

    /**
     * The port with an index.
     *
     * @param index 1 to {@value #COUNT}; 0 for 4791
     */
    public static int at(int index) {
        return index == 0 ? RocePacket.UDP_PORT : BASE_PORT + index;
    }

    /**
     * The port of a queue pair.
     *
     * @param number 24 bits
     */
    public static int of(int number) {
        return at(index(number));
    }

    /** The index of that port. */
    public static int index(int number) {
        boolean isOfGroup = number == RocePacket.GROUP_QUEUE_PAIR;
        return number < BASE_NUMBER || isOfGroup ? 0 : number >>> NUMBER_BITS & PORT_MASK;
    }

    /** The least number of a device's queue pairs, by its port. */
    public static int leastNumber(int port) {
        return isNumbered(port) ? BASE_NUMBER | (port - BASE_PORT) << NUMBER_BITS : LEAST_NUMBER;
    }

    /** All numbers of a device's queue pairs are less than this. */
    public static int numbersBelow(int port) {
        return isNumbered(port)
                ? Math.min(leastNumber(port) + (1 << NUMBER_BITS), RocePacket.GROUP_QUEUE_PAIR)
                : BASE_NUMBER;
    }

    private static boolean isNumbered(int port) {
        return port > BASE_PORT && port <= BASE_PORT + COUNT;
    }
}
