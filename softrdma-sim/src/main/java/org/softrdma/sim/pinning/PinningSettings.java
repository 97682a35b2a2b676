package org.softrdma.sim.pinning;

import org.softrdma.verbs.PinningPolicy;

/**
 * How a device pins.
 *
 * @param policy of regions that ask for {@link PinningPolicy#AUTO}; AUTO itself is LAZY where that can work, else OFF
 * @param budgetBytes most bytes pinned lazily at once, what EAGER regions pin comes on top; {@link #AUTOMATIC} for what the kernel allows, half of the
 *     machine's memory at most
 * @param granuleBytes a power of two, what is pinned at once
 */
public record PinningSettings(PinningPolicy policy, long budgetBytes, int granuleBytes) {
    /** The budget is chosen by the device. */
    public static final long AUTOMATIC = 0;
    /** Bytes of a granule: coarse, because each separate locked range costs the kernel mappings. */
    public static final int DEFAULT_GRANULE = 256 * 1024;
    /** Least granule: any smaller one would be a page. */
    public static final int LEAST_GRANULE = 4096;

    /** What a device does by default. */
    public static final PinningSettings DEFAULT = new PinningSettings(PinningPolicy.AUTO, AUTOMATIC, DEFAULT_GRANULE);
}
