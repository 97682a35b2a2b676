package org.softrdma.verbs;

/** When the pages of a region are locked into memory, so that the kernel does not take them away. */
public enum PinningPolicy {
    /** What the device has been opened with; by default {@link #LAZY} where the device can, else {@link #OFF}. */
    AUTO,
    /** All at registration, as {@code ibv_reg_mr} does; over the limit of locked memory registration fails. */
    EAGER,
    /**
     * Each part on its first use, remote or local, within a budget of bytes; what was used least recently is given back (C: the nearest is
     * {@code IBV_ACCESS_ON_DEMAND}). Needs {@link Feature#LAZY_PINNING}.
     */
    LAZY,
    /** Never. */
    OFF
}
