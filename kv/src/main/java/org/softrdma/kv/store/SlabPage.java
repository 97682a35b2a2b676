package org.softrdma.kv.store;

/**
 * What the store keeps about the chunks of a page outside registered memory. The state of a chunk is guarded by the lock of
 * the key that it holds; the page's own fields never change.
 */
final class SlabPage {
    private static final short LINKED = Short.MIN_VALUE;
    private static final int PINS_MASK = Short.MAX_VALUE;

    final int sizeClass;
    final int chunkLength;
    private final short[] states;

    SlabPage(int sizeClass, int chunkLength, int pageLength) {
        this.sizeClass = sizeClass;
        this.chunkLength = chunkLength;
        this.states = new short[pageLength / chunkLength];
    }

    /** True if there is such a chunk. */
    boolean has(int index) {
        return index >= 0 && index < states.length;
    }

    /** The index names this chunk. */
    void link(int index) {
        states[index] = LINKED;
    }

    /** The index names this chunk no more; true if nobody else uses it. */
    boolean unlink(int index) {
        states[index] &= PINS_MASK;
        return states[index] == 0;
    }

    /** Somebody needs the bytes of this chunk for a while; false if too many do already. */
    boolean pin(int index) {
        if ((states[index] & PINS_MASK) == PINS_MASK) {
            return false;
        }
        states[index]++;
        return true;
    }

    /** One less; true if nobody uses the chunk any more. */
    boolean unpin(int index) {
        if ((states[index] & PINS_MASK) == 0) {
            throw new IllegalStateException("chunk " + index + " of class " + sizeClass + " is not pinned");
        }
        states[index]--;
        return states[index] == 0;
    }
}
