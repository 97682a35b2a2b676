package org.softrdma.sim.engine;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Rung by application threads when something was posted on a connection; the engine's thread answers it. Rings between two
 * answers are one. A ring must not be lost: it waits for memory, if need be. Any thread, but for {@link #answered}.
 */
public final class Doorbell {
    private final RnicEngine engine;
    private final DrivenConnection connection;
    private final AtomicBoolean rung = new AtomicBoolean();
    /** Made once. */
    private final Runnable task;

    /**
     * Not rung.
     *
     * @param engine answers it
     * @param connection whose doorbell it is
     */
    public Doorbell(RnicEngine engine, DrivenConnection connection) {
        this.engine = engine;
        this.connection = connection;
        task = engine.loop().careful(connection::doorbell);
    }

    /** The engine's thread has a look at the connection, soon. */
    public void ring() {
        if (rung.compareAndSet(false, true)) {
            try {
                if (engine.isManual()) {
                    engine.ring(connection);
                } else {
                    engine.enqueue(task);
                }
            } catch (RuntimeException | Error e) {
                rung.set(false); // the next one rings again
                throw e;
            }
        }
    }

    /** The connection is about to look at what was posted: the next ring is another one. Engine thread. */
    public void answered() {
        rung.set(false);
    }
}
