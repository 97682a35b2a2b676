package org.softrdma.net.transport;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** Keeps what fails in a task or an event from ending its loop. On the loop, but for {@link #careful}. */
public final class LoopGuard {
    private static final Logger LOG = LoggerFactory.getLogger(LoopGuard.class);

    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);

    private LoopGuard() {}

    /** A moment in which there may be memory again. Needs none. */
    public static void pause() {
        LockSupport.parkNanos(PAUSE_NS);
    }

    /** Does something that must not be left out. While there is no memory for it, it is tried again. */
    public static void insist(Runnable task) {
        boolean done = false;
        while (!done) {
            try {
                task.run();
                done = true;
            } catch (OutOfMemoryError e) {
                pause();
            }
        }
    }

    /**
     * A task out of which nothing comes. A loop may log what comes out of a task, which also fails when there is no memory, and that would
     * end its thread. Any thread.
     */
    public static Runnable careful(Runnable task) {
        return task instanceof Careful ? task : new Careful(task);
    }

    private record Careful(Runnable task) implements Runnable {
        @Override
        public void run() {
            try {
                task.run();
            } catch (RuntimeException | Error e) {
                log("a task of an event loop failed", e);
            }
        }
    }

    /** Hands an accepted connection over; what fails in that costs this connection, and not the loop. */
    public static void hand(Consumer<EventLoop.PendingSocket> accepted, EventLoop.PendingSocket pending) {
        try {
            accepted.accept(pending);
        } catch (RuntimeException | Error e) {
            pending.discard();
            log("cannot take over an accepted connection; it is closed", e);
        }
    }

    /**
     * What is told of a socket's events has failed, or the socket itself: closes it, and says once more that it is ready, so that
     * its owner finds it closed. Never throws, because an Error would end the loop's thread.
     *
     * @param socket closes it; made before, because there may be no memory for it now
     * @param events told
     * @param cause what has failed
     */
    public static void failed(Runnable socket, SocketEvents events, Throwable cause) {
        try {
            socket.run();
        } catch (RuntimeException | Error e) {
            log("closing a socket failed", e);
        }
        try {
            events.ready(true);
        } catch (RuntimeException | Error e) {
            log("ending a connection failed", e);
        }
        log("handling a socket failed; it is closed", cause); // last: logging may fail, too
    }

    private static void log(String what, Throwable cause) {
        FaultLog.tell(LOG, Level.ERROR, what, cause);
    }
}
