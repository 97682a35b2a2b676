package org.softrdma.testkit;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SharedReceiveQueue;
import org.softrdma.verbs.cm.ConnectionParameters;

/** How to connect a pair. Everything that is not set has the API's default. */
public final class ConnectionSpec {
    private QueuePairLimits requesterLimits = QueuePairLimits.DEFAULT;
    private QueuePairLimits responderLimits = QueuePairLimits.DEFAULT;
    private ConnectionParameters requesterParameters = ConnectionParameters.DEFAULT;
    private ConnectionParameters responderParameters = ConnectionParameters.DEFAULT;
    private boolean signalAll;
    private @Nullable CompletionReader requesterSends;
    private @Nullable CompletionReader requesterReceives;
    private @Nullable CompletionReader responderReceives;
    private @Nullable SharedReceiveQueue responderShared;
    private Consumer<Endpoint> beforeConnect = endpoint -> {};
    private Consumer<Endpoint> beforeAccept = endpoint -> {};

    /** All defaults. */
    public ConnectionSpec() {}

    /**
     * Sizes of both queue pairs.
     *
     * @param limits sizes
     */
    public ConnectionSpec limits(QueuePairLimits limits) {
        requesterLimits = limits;
        responderLimits = limits;
        return this;
    }

    /**
     * Sizes of the requester's queue pair.
     *
     * @param limits sizes
     */
    public ConnectionSpec requesterLimits(QueuePairLimits limits) {
        requesterLimits = limits;
        return this;
    }

    /**
     * The connection parameters of both sides.
     *
     * @param requester of the connecting side
     * @param responder of the accepting side
     */
    public ConnectionSpec parameters(ConnectionParameters requester, ConnectionParameters responder) {
        requesterParameters = requester;
        responderParameters = responder;
        return this;
    }

    /** Every request of the requester produces a completion. */
    public ConnectionSpec signalAll() {
        signalAll = true;
        return this;
    }

    /**
     * Sets where completions of the requester's send queue go.
     *
     * @param reader a queue of the requester's device
     */
    public ConnectionSpec requesterSends(CompletionReader reader) {
        requesterSends = reader;
        return this;
    }

    /**
     * Sets where completions of the requester's receive queue go.
     *
     * @param reader a queue of the requester's device
     */
    public ConnectionSpec requesterReceives(CompletionReader reader) {
        requesterReceives = reader;
        return this;
    }

    /**
     * Sets where completions of the responder's receive queue go.
     *
     * @param reader a queue of the responder's device
     */
    public ConnectionSpec responderReceives(CompletionReader reader) {
        responderReceives = reader;
        return this;
    }

    /**
     * Sets where RECVs of the responder's queue pair come from, instead of a queue of its own.
     *
     * @param queue a queue of the responder's device
     */
    public ConnectionSpec responderShared(SharedReceiveQueue queue) {
        responderShared = queue;
        return this;
    }

    /**
     * Sets an action that runs between the creation of the requester's queue pair and connecting.
     *
     * @param action posts RECVs
     */
    public ConnectionSpec beforeConnect(Consumer<Endpoint> action) {
        beforeConnect = action;
        return this;
    }

    /**
     * Sets an action that runs, on the accepting thread, between the creation of the responder's queue pair and
     * accepting.
     *
     * @param action posts RECVs
     */
    public ConnectionSpec beforeAccept(Consumer<Endpoint> action) {
        beforeAccept = action;
        return this;
    }

    QueuePairLimits requesterLimits() {
        return requesterLimits;
    }

    QueuePairLimits responderLimits() {
        return responderLimits;
    }

    ConnectionParameters requesterParameters() {
        return requesterParameters;
    }

    ConnectionParameters responderParameters() {
        return responderParameters;
    }

    boolean isSignalAll() {
        return signalAll;
    }

    @Nullable
    CompletionReader requesterSends() {
        return requesterSends;
    }

    @Nullable
    CompletionReader requesterReceives() {
        return requesterReceives;
    }

    @Nullable
    CompletionReader responderReceives() {
        return responderReceives;
    }

    @Nullable
    SharedReceiveQueue responderShared() {
        return responderShared;
    }

    Consumer<Endpoint> beforeConnect() {
        return beforeConnect;
    }

    Consumer<Endpoint> beforeAccept() {
        return beforeAccept;
    }
}
