package org.softrdma.net.kernel;

import org.softrdma.net.peer.FullHeap;

/** Closes descriptors, from the first one on, while the heap is full. Its exit code is 0 if each call was made. */
public final class CloseWithoutMemory {
    /** More than a method handle needs until it has code of its own. */
    private static final int CALLS = 1000;

    private CloseWithoutMemory() {}

    private static void closeAll() {
        for (int i = 0; i < CALLS; i++) {
            Descriptor.close(-1);
        }
    }

    /**
     * Runs it.
     *
     * @param arguments none
     */
    public static void main(String[] arguments) throws ClassNotFoundException {
        Class<?> ignored = Class.forName(Descriptor.class.getName()); // as a device does when it opens
        new FullHeap(1, 1).whileFull(CloseWithoutMemory::closeAll);
        System.exit(0);
    }
}
