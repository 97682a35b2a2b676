package org.softrdma.run.kernel;

import org.softrdma.net.transport.LoopGuard;

/** Waits for memory. What a program waits for is tried again so, but not for ever. Makes no object. */
public final class MemoryPause {
    /** How often it is tried: for some five seconds. */
    public static final int MOST = 5_000;

    private MemoryPause() {}

    /** A moment in which there may be memory again: a millisecond. */
    public static void pause() {
        LoopGuard.pause();
    }
}
