package org.softrdma.kv.server.netty;

import java.util.List;

/**
 * Netty's switches for io_uring that have to be off, because of two defects of Netty 4.2.18. With multishot polls, a
 * connection that the client resets in the middle of a request is never closed, so anybody can use up all connections (a
 * bare Netty server does the same). With multishot accepts, a server without descriptors accepts in a loop and logs each
 * failure. What remains is in docs/guide/store.md. Any thread.
 */
public final class UringSwitches {
    private static final List<String> NAMES =
            List.of("io.netty.iouring.pollAddMultishotEnabled", "io.netty.iouring.acceptMultiShotEnabled");

    /** What to do if they are on. */
    static final String ADVICE = "Netty's io_uring never closes a connection that is reset in the middle of a request;"
            + " call UringSwitches.turnOff first, as softrdma server does";

    private static volatile boolean off;

    private UringSwitches() {}

    /**
     * Turns them off, for all of this process. Has no effect on Netty if something else has used its io_uring already.
     */
    public static void turnOff() {
        NAMES.forEach(name -> System.setProperty(name, "false"));
        off = true;
    }

    static boolean areOff() {
        return off;
    }
}
