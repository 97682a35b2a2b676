package org.softrdma.farm.memory;

/** An address of the shared address space: the region in the high half, the offset in it in the low half. 0 is none. */
public final class FarmAddress {
    /** The address of nothing: no object begins at the start of region 0 that a pointer could name. */
    public static final long NONE = 0;

    private FarmAddress() {}

    /**
     * An address.
     *
     * @param region number of the region
     * @param offset bytes from its start, below 2^31
     */
    public static long of(int region, long offset) {
        return (long) region << Integer.SIZE | offset;
    }

    /** The region. */
    public static int region(long address) {
        return (int) (address >>> Integer.SIZE);
    }

    /** How messages and {@code softrdma farm status} name a region: its number in eight hexadecimal digits. */
    public static String regionText(int region) {
        return String.format("region %08x", region);
    }

    /** Bytes from the start of the region. */
    public static long offset(long address) {
        return Integer.toUnsignedLong((int) address);
    }
}
