package org.softrdma.stores.herd.mica;

/** Is told what becomes of the pairs of a table. On the worker's thread. */
public interface MicaWatcher {
    /** Is not interested. */
    MicaWatcher NONE = new MicaWatcher() {
        @Override
        public void appended(MicaPairs pairs, long position) {
            // Not interested.
        }

        @Override
        public void evicted(MicaPairs pairs, long position) {
            // Not interested.
        }

        @Override
        public void removed(MicaPairs pairs, long position) {
            // Not interested.
        }
    };

    /**
     * A pair is new in the log. Older pairs may have lost their place by that.
     *
     * @param pairs of the table
     * @param position of the pair
     */
    void appended(MicaPairs pairs, long position);

    /**
     * A pair that is still in the log leaves the index: its bucket is full, and it is the oldest there.
     *
     * @param pairs of the table
     * @param position of the pair
     */
    void evicted(MicaPairs pairs, long position);

    /**
     * A pair is removed.
     *
     * @param pairs of the table
     * @param position of the pair
     */
    void removed(MicaPairs pairs, long position);
}
