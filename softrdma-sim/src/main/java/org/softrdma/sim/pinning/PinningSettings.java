package org.softrdma.sim.pinning;

import org.softrdma.verbs.PinningPolicy;

/**
 * How a device pins.
 *
 * @param policy of regions that ask for {@link PinningPolicy#AUTO}; AUTO itself is LAZY where that can work, else OFF
 * @param budgetBytes maximum bytes pinned lazily at once, in addition to what EAGER regions pin; {@link #AUTOMATIC} for
 *     what the kernel allows, but at most half of the machine's memory
 * @param granuleBytes bytes pinned at a time, a power of two
 */
public record PinningSettings(PinningPolicy policy, long budgetBytes, int granuleBytes) {
    /** The device chooses the budget. */
    public static final long AUTOMATIC = 0;
    /** Bytes of a granule. Coarse, because each separate locked range costs the kernel mappings. */
    public static final int DEFAULT_GRANULE = 256 * 1024;
    /** Smallest granule: anything smaller is less than a page. */
    public static final int LEAST_GRANULE = 4096;

    /** The defaults of a device. */
    public static final PinningSettings DEFAULT = new PinningSettings(PinningPolicy.AUTO, AUTOMATIC, DEFAULT_GRANULE);
}
