package org.softrdma.sim.transport;

import org.slf4j.Logger;
import org.slf4j.event.Level;

/** Words about a fault, where nothing may come out: what has failed may be memory, and the words need some as well. Any thread. */
public final class FaultLog {
    private FaultLog() {}

    /** Logs, if there is memory for it; never throws. */
    public static void tell(Logger log, Level level, String what, Throwable cause) {
        try {
            log.atLevel(level).setCause(cause).log(what);
        } catch (RuntimeException | Error e) {
            // Counters and completions tell the rest.
        }
    }
}
