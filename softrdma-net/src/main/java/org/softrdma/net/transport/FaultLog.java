package org.softrdma.net.transport;

import org.slf4j.Logger;
import org.slf4j.event.Level;

/** Logs faults where no exception may escape: memory may be what has failed, and logging needs some. Any thread. */
public final class FaultLog {
    private FaultLog() {}

    /** Logs, if there is memory for it; never throws. */
    public static void tell(Logger log, Level level, String what, Throwable cause) {
        try {
            log.atLevel(level).setCause(cause).log(what);
        } catch (RuntimeException | Error e) {
            // Counters and completions report the fault anyway.
        }
    }
}
