package org.softrdma.sim.roce.wire;

/** The times in an RNR NAK: five bits that stand for 10 us to 655.36 ms (IBA volume 1, table 45). */
public final class RnrTimer {
    private static final int NANOS_PER_UNIT = 10_000;

    /** Units of 10 us by code; code 0 is the longest. */
    private static final int[] UNITS = {
        65_536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1_024, 1_536, 2_048, 3_072,
        4_096, 6_144, 8_192, 12_288, 16_384, 24_576, 32_768, 49_152
    };

    private RnrTimer() {}

    /** The time of a code, 0 to 31, in nanoseconds. */
    public static long nanos(int code) {
        return (long) UNITS[code] * NANOS_PER_UNIT;
    }

    /** The code of the shortest time that is at least as long as {@code nanos}; the longest there is, if none is. */
    public static int code(long nanos) {
        for (int code = 1; code < UNITS.length; code++) {
            if (nanos(code) >= nanos) {
                return code;
            }
        }
        return 0;
    }
}
