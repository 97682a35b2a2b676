package org.softrdma.sim.memory;

/**
 * Mirrors rows of regions into the table that peers on the same host map. Called under the table's
 * lock; must not throw.
 */
public interface RowMirror {
    /** Repeats nothing. */
    RowMirror NONE = new RowMirror() {
        @Override
        public void says(int row, RowContent content) {
            // It repeats nothing.
        }

        @Override
        public void saysNothing(int row) {
            // It repeats nothing.
        }
    };

    /**
     * A row is valid, or its memory was swapped for other memory.
     *
     * @param row its number
     * @param content what it says
     */
    void says(int row, RowContent content);

    /** The keys of a row are not valid any more. Once this has returned nobody may read by them. */
    void saysNothing(int row);
}
