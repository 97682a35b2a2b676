package org.softrdma.sim.samehost;

import org.softrdma.net.kernel.Descriptor;
import org.softrdma.net.kernel.LocalSocket;

/** The descriptor that came with a message, if any: closed with this, unless it was taken. One thread. */
final class HandedFile implements AutoCloseable {
    private int descriptor;

    /** From {@link LocalSocket#receive}. */
    HandedFile(int descriptor) {
        this.descriptor = descriptor;
    }

    boolean isThere() {
        return descriptor != LocalSocket.NONE;
    }

    /** The descriptor, or {@link LocalSocket#NONE}; the caller closes it from now on. */
    int take() {
        int taken = descriptor;
        descriptor = LocalSocket.NONE;
        return taken;
    }

    @Override
    public void close() {
        if (isThere()) {
            Descriptor.close(take());
        }
    }
}
