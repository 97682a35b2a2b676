package org.softrdma.kv.server.session;

/**
 * What clients may see of the items and of each other.
 *
 * @param dumpAllowed whether they may list keys, memcached's -X is false
 * @param watchAllowed whether they may watch, memcached's -W is false
 * @param watcherBufferBytes that may wait for a watcher which does not read
 * @param prefixDelimiter ends the prefix of a key, for {@code stats detail}
 * @param prefixesCounted whether {@code stats detail} counts from the start, as with memcached's -D
 * @param sizesTracked whether {@code stats sizes} answers from the start
 */
public record DiagnosisSettings(
        boolean dumpAllowed,
        boolean watchAllowed,
        int watcherBufferBytes,
        char prefixDelimiter,
        boolean prefixesCounted,
        boolean sizesTracked) {
    /** memcached's default of what may wait for a watcher. */
    public static final int DEFAULT_WATCHER_BUFFER_BYTES = 256 << 10;

    /** memcached's default delimiter of prefixes. */
    public static final char DEFAULT_PREFIX_DELIMITER = ':';

    /** memcached's defaults. */
    public static final DiagnosisSettings DEFAULT =
            new DiagnosisSettings(true, true, DEFAULT_WATCHER_BUFFER_BYTES, DEFAULT_PREFIX_DELIMITER, false, false);

    /** A line of what is watched fits: its key may be three times as long as the key. */
    private static final int LEAST_WATCHER_BYTES = 1024;

    /** Checks the buffer. */
    public DiagnosisSettings {
        if (watcherBufferBytes < LEAST_WATCHER_BYTES) {
            throw new IllegalArgumentException(
                    "watcherBufferBytes=" + watcherBufferBytes + ": expected at least " + LEAST_WATCHER_BYTES);
        }
    }

    /**
     * Sets whether clients may list keys.
     *
     * @param allowed memcached's -X is false
     */
    public DiagnosisSettings withDumpAllowed(boolean allowed) {
        return new DiagnosisSettings(
                allowed, watchAllowed, watcherBufferBytes, prefixDelimiter, prefixesCounted, sizesTracked);
    }

    /**
     * Sets whether clients may watch.
     *
     * @param allowed memcached's -W is false
     */
    public DiagnosisSettings withWatchAllowed(boolean allowed) {
        return new DiagnosisSettings(
                dumpAllowed, allowed, watcherBufferBytes, prefixDelimiter, prefixesCounted, sizesTracked);
    }

    /**
     * Sets what may wait for a watcher.
     *
     * @param bytes at least a line
     */
    public DiagnosisSettings withWatcherBufferBytes(int bytes) {
        return new DiagnosisSettings(dumpAllowed, watchAllowed, bytes, prefixDelimiter, prefixesCounted, sizesTracked);
    }

    /**
     * Counts by prefixes from the start.
     *
     * @param delimiter ends a prefix
     */
    public DiagnosisSettings withPrefixes(char delimiter) {
        return new DiagnosisSettings(dumpAllowed, watchAllowed, watcherBufferBytes, delimiter, true, sizesTracked);
    }

    /**
     * Sets whether {@code stats sizes} answers from the start.
     *
     * @param on false is the default
     */
    public DiagnosisSettings withSizesTracked(boolean on) {
        return new DiagnosisSettings(
                dumpAllowed, watchAllowed, watcherBufferBytes, prefixDelimiter, prefixesCounted, on);
    }
}
