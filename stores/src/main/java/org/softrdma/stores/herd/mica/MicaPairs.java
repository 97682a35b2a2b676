package org.softrdma.stores.herd.mica;

import java.lang.foreign.MemorySegment;

/** Pairs by their positions in a log, which count the bytes that were appended before. */
public interface MicaPairs {
    /** The memory in which pairs are. */
    MemorySegment memory();

    /** Where the key of a pair begins. */
    long keyAt(long position);

    /** Bytes of the key of a pair. */
    int keyLength(long position);

    /** Where the value of a pair begins. */
    long valueAt(long position);

    /** Bytes of the value of a pair. */
    int valueLength(long position);
}
