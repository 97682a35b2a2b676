package org.softrdma.kv.server.host;

import org.slf4j.Logger;

/** Logs failures that may leave no memory for the log. Any thread. */
public final class SafeLog {
    private SafeLog() {}

    /** Logs an error; never throws. */
    public static void error(Logger log, String what, Throwable cause) {
        try {
            log.error(what, cause);
        } catch (RuntimeException | Error unspeakable) {
            // The next failure may find memory for its line.
        }
    }
}
