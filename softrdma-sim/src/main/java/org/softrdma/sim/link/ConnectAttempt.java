package org.softrdma.sim.link;

import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/** The active side of a connection that is being made. Any thread. */
public interface ConnectAttempt {
    /** What {@link #start} results in when there is no memory for the reason of a failure. */
    byte[] FAILED = {};

    /** Begins. The result is the private data of the reply, or a {@link VerbsException}, or this very {@link #FAILED}. */
    CompletableFuture<byte[]> start();

    /**
     * Fails, unless it has a result.
     *
     * @param code {@code TIMED_OUT} if the caller's deadline has passed
     * @param reason for the message
     */
    void giveUp(VerbsErrorCode code, String reason);

    /** True once it has a result. */
    boolean isDone();

    /** The address of this end; null before the result is there. */
    @Nullable
    InetSocketAddress localAddress();
}
