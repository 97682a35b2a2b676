package org.softrdma.verbs;

/** When the pages of a region are locked into memory, so that the kernel cannot page them out. */
public enum PinningPolicy {
    /** What the device was opened with. The default is {@link #LAZY} if the device supports it, else {@link #OFF}. */
    AUTO,
    /** All at registration, as {@code ibv_reg_mr} does. Registration fails beyond the limit of locked memory. */
    EAGER,
    /**
     * Each part on its first use, local or remote, within a budget of bytes; the least recently used part is unlocked
     * to make room (C: {@code IBV_ACCESS_ON_DEMAND} is the closest equivalent). Needs {@link Feature#LAZY_PINNING}.
     */
    LAZY,
    /** Never. */
    OFF
}
