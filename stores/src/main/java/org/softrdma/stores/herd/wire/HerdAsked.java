package org.softrdma.stores.herd.wire;

import java.lang.foreign.MemorySegment;
import org.softrdma.stores.client.OperationKind;

/** What a client asks: places in memory of its own, and where the request goes. */
public interface HerdAsked {
    /** What is asked. */
    OperationKind operation();

    /** Where key and value are. */
    MemorySegment memory();

    /** Where the key begins. */
    long keyAt();

    /** Bytes of the key. */
    int keyLength();

    /** Where the value begins. */
    long valueAt();

    /** Bytes of the value; 0 unless it is a PUT. */
    int valueLength();

    /** The slot. */
    int slot();

    /** The number of the request in the slot, never 0. */
    int number();

    /** Which WRITE of this number, from 1. */
    int attempt();
}
