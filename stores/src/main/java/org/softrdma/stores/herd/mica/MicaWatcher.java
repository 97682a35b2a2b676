package org.softrdma.stores.herd.mica;

/** Is told what becomes of the pairs of a table. On the worker's thread. */
public interface MicaWatcher {
    /** Is not interested. */
    MicaWatcher NONE = new MicaWatcher() {
        @Override
        public void appended(MicaTable table, long position) {
            // Not interested.
        }

        @Override
        public void evicted(MicaTable table, long position) {
            // Not interested.
        }

        @Override
        public void removed(MicaTable table, long position) {
            // Not interested.
        }
    };

    /**
     * A pair is new in the log. Older pairs may have lost their place by that ({@link MicaTable#holds}).
     *
     * @param table which has it
     * @param position of the pair
     */
    void appended(MicaTable table, long position);

    /**
     * A pair that is still in the log leaves the index: its bucket is full, and it is the oldest there.
     *
     * @param table which has it
     * @param position of the pair
     */
    void evicted(MicaTable table, long position);

    /**
     * A pair is removed.
     *
     * @param table which has it
     * @param position of the pair
     */
    void removed(MicaTable table, long position);
}
