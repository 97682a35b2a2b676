package org.softrdma.kv.server.netty;

import java.util.List;

/**
 * Netty's switches for io_uring that have to be off, because of two defects of Netty 4.2.18. With multishot
 * polls, a connection that the client resets in the middle of a request is never closed, so anybody can use up all
 * connections (a bare Netty server does the same). With multishot accepts, a server without descriptors accepts in a
 * loop and logs each failure. Any thread.
 */
public final class UringSwitches {
    private static final List<String> NAMES =
            List.of("io.netty.iouring.pollAddMultishotEnabled", "io.netty.iouring.acceptMultiShotEnabled");

    /** What to do if they are on. */
    static final String ADVICE = "Netty's io_uring never closes a connection that is reset in the middle of a request,"
            + " unless Java runs with -D" + String.join("=false and -D", NAMES) + "=false";

    private UringSwitches() {}

    /** Turns them off, unless the user has set them. Works until Netty uses io_uring for the first time. */
    public static void turnOff() {
        NAMES.stream()
                .filter(name -> System.getProperty(name) == null)
                .forEach(name -> System.setProperty(name, "false"));
    }

    static boolean areOff() {
        return NAMES.stream().allMatch(name -> "false".equals(System.getProperty(name)));
    }
}
