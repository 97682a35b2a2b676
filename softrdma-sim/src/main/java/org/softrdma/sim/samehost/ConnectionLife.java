package org.softrdma.sim.samehost;

import java.io.IOException;
import java.lang.invoke.VarHandle;
import org.softrdma.net.kernel.SealedMemory;
import org.softrdma.net.memory.NativeMemory;

/**
 * Whether a connection is alive at the side that has accepted it: the first int of a page that the peer can see, 1
 * until
 * the end. So no READ succeeds that begins after the queue pair was closed here, even before the peer hears of that.
 */
final class ConnectionLife implements AutoCloseable {
    /** Bytes of the page. */
    static final int BYTES = 4096;

    private static final int ALIVE = 1;

    private final SealedMemory page;

    ConnectionLife() throws IOException {
        page = SealedMemory.create("softrdma connection", BYTES);
        NativeMemory.putIntRelease(page.address(), ALIVE);
    }

    /** The descriptor for the peer. */
    int descriptor() {
        return page.descriptor();
    }

    /** On the page of a peer: true if the connection was alive now; for whatever was read before. */
    static boolean isAlive(long page) {
        VarHandle.acquireFence();
        return NativeMemory.getIntAcquire(page) == ALIVE;
    }

    @Override
    public void close() {
        NativeMemory.putIntRelease(page.address(), 0);
        VarHandle.fullFence(); // nothing that follows is seen before
        page.close();
    }
}
