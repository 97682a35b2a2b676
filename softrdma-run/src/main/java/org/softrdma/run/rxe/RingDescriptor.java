package org.softrdma.run.rxe;

/**
 * A ring, {@code struct rxe_queue_buf}, in the machine's order. Card and program each write their index, by release, behind the elements
 * that it gives away. The card writes the rest, once.
 *
 * <pre>
 *     0  logarithm of an element's length       4 bytes
 *     4  mask of indexes                        4
 *   128  producer's index                       4
 *   256  consumer's index                       4
 *   384  elements, a power of two of them
 * </pre>
 */
final class RingDescriptor {
    static final int LOGARITHM_OFFSET = 0;
    static final int MASK_OFFSET = LOGARITHM_OFFSET + Integer.BYTES;
    static final int PRODUCER_OFFSET = 128;
    static final int CONSUMER_OFFSET = 256;
    static final int ELEMENTS_OFFSET = 384;

    private RingDescriptor() {}
}
