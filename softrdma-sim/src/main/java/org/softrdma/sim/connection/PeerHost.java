package org.softrdma.sim.connection;

import java.io.IOException;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.sim.engine.Counter;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.link.QueuePairEnd;
import org.softrdma.verbs.CompletionStatus;

/**
 * The host of a connection's peer: finds out whether it is silent, and then ends the connection. Engine thread only.
 */
final class PeerHost {
    private static final Logger LOG = LoggerFactory.getLogger(PeerHost.class);

    private final RnicEngine engine;
    private final ConnectionLifecycle life;
    private final ConnectionSocket socket;
    /** A segment has arrived since the last question whether the host is silent. */
    private boolean heard;

    /**
     * Nothing has arrived yet.
     *
     * @param engine of the connection
     * @param life of the connection
     * @param socket of the connection
     */
    PeerHost(RnicEngine engine, ConnectionLifecycle life, ConnectionSocket socket) {
        this.engine = engine;
        this.life = life;
        this.socket = socket;
    }

    /** A segment has arrived. */
    void heard() {
        heard = true;
    }

    /**
     * True if nothing has arrived since the last call, and the kernel knows of no answer within the host timeout
     * either.
     */
    boolean isSilent() {
        boolean was = heard;
        heard = false;
        return !was && life.state() == ConnectionLifecycle.State.STREAM && socket.isHostSilent();
    }

    /**
     * The host is silent: ends the connection. The application learns it as from hardware: the oldest request fails,
     * the others are flushed.
     *
     * @param detail how that is known, for the message
     */
    void endConnection(@Nullable String detail) {
        long timeoutNs = engine.limits().timeouts().hostNs();
        double seconds = timeoutNs / (double) TimeUnit.SECONDS.toNanos(1);
        String time = timeoutNs == 0 ? "" : String.format(Locale.ROOT, " for %.1f s", seconds);
        String reason = "the host of " + socket.peer() + " did not answer" + time + " (" + detail + ")";
        if (life.state() == ConnectionLifecycle.State.STREAM) {
            engine.counters().increment(Counter.SILENT_HOSTS);
            QueuePairEnd pair = life.queuePair();
            long oldest = pair == null ? -1 : pair.sendQueue().oldest();
            life.cutStream(reason, oldest, CompletionStatus.RETRY_EXCEEDED_ERROR);
            life.abort();
            LOG.info("{}", reason);
        } else {
            life.broken(new IOException(reason));
        }
    }
}
