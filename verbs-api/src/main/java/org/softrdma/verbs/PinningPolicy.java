package org.softrdma.verbs;

/** When the pages of a region are locked into memory, so that the kernel cannot take them away. */
public enum PinningPolicy {
    /** What the device was opened with. The default is {@link #LAZY} if the device can do it, else {@link #OFF}. */
    AUTO,
    /** All at registration, as {@code ibv_reg_mr} does. Registration fails over the limit of locked memory. */
    EAGER,
    /**
     * Each part on its first use, local or remote, within a budget of bytes; what was used least recently is unlocked
     * to make room (C: {@code IBV_ACCESS_ON_DEMAND} is the nearest). Needs {@link Feature#LAZY_PINNING}.
     */
    LAZY,
    /** Never. */
    OFF
}
