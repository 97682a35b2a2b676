package org.softrdma.testkit;

import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.AddressHandle;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.MemoryWindow;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.UnconnectedQueuePair;

/** One end of a connection: its queue pair and the readers of its two completion queues. */
public final class Endpoint {
    private final CaseScope scope;
    private final Node node;
    private final QueuePair queuePair;
    private final CompletionReader sends;
    private final CompletionReader receives;
    private final boolean sharesReceives;
    private volatile QueuePairState stateAtDisconnect = QueuePairState.ERROR;
    private final AtomicReference<@Nullable String> disconnectReason = new AtomicReference<>();

    Endpoint(
            CaseScope scope,
            Node node,
            QueuePair queuePair,
            CompletionReader sends,
            CompletionReader receives,
            boolean sharesReceives) {
        this.sharesReceives = sharesReceives;
        this.scope = scope;
        this.node = node;
        this.queuePair = queuePair;
        this.sends = sends;
        this.receives = receives;
    }

    /** Called once connected: remembers why the connection ended. */
    void watchDisconnection() {
        CompletionStage<String> disconnected = queuePair.disconnected();
        CompletionStage<Void> unused = disconnected.thenAccept(reason -> {
            stateAtDisconnect = queuePair.state();
            disconnectReason.set(reason);
        });
        java.util.Objects.requireNonNull(unused);
    }

    /** Its side. */
    public Node node() {
        return node;
    }

    /** Its queue pair. */
    public QueuePair queuePair() {
        return queuePair;
    }

    /** Its queue pair, of an end that was made without a connection manager. */
    public UnconnectedQueuePair unconnected() {
        return (UnconnectedQueuePair) queuePair;
    }

    /** Completions of its send queue. */
    public CompletionReader sends() {
        return sends;
    }

    /** Completions of its receive queue. */
    public CompletionReader receives() {
        return receives;
    }

    /** True if its RECVs come from a shared receive queue: none can be posted here, and none is flushed. */
    boolean sharesReceives() {
        return sharesReceives;
    }

    /** Why the connection ended, once it has. */
    public @Nullable String disconnectReason() {
        return disconnectReason.get();
    }

    /**
     * Posts a signalled READ.
     *
     * @param wrId number of the request
     * @param sink where the data goes
     * @param offset bytes from its start
     * @param length bytes
     * @param remoteAddress where it comes from
     * @param rkey key of that memory
     */
    public void read(long wrId, MemoryRegion sink, long offset, long length, long remoteAddress, int rkey) {
        require(
                queuePair.postRead(wrId, sink, offset, length, remoteAddress, rkey, SendFlags.SIGNALLED),
                "READ " + wrId);
    }

    /**
     * Posts a signalled READ of as much as the sink takes, from the start of a region.
     *
     * @param wrId number of the request
     * @param sink where the data goes
     * @param source the peer's region
     */
    public void read(long wrId, MemoryRegion sink, MemoryRegion source) {
        read(wrId, sink, 0, sink.length(), source.address(), source.rkey());
    }

    /**
     * Posts a signalled WRITE.
     *
     * @param wrId number of the request
     * @param source where the data comes from
     * @param offset bytes from its start
     * @param length bytes
     * @param remoteAddress where it goes
     * @param rkey key of that memory
     */
    public void write(long wrId, MemoryRegion source, long offset, long length, long remoteAddress, int rkey) {
        require(
                queuePair.postWrite(wrId, source, offset, length, remoteAddress, rkey, SendFlags.SIGNALLED),
                "WRITE " + wrId);
    }

    /**
     * Posts a signalled WRITE of a whole region to the start of another.
     *
     * @param wrId number of the request
     * @param source where the data comes from
     * @param target the peer's region
     */
    public void write(long wrId, MemoryRegion source, MemoryRegion target) {
        write(wrId, source, 0, source.length(), target.address(), target.rkey());
    }

    /**
     * Posts a signalled SEND.
     *
     * @param wrId number of the request
     * @param source where the data comes from
     * @param offset bytes from its start
     * @param length bytes
     */
    public void send(long wrId, MemoryRegion source, long offset, long length) {
        require(queuePair.postSend(wrId, source, offset, length, SendFlags.SIGNALLED), "SEND " + wrId);
    }

    /**
     * Posts a signalled datagram.
     *
     * @param wrId number of the request
     * @param source where the data comes from
     * @param length bytes from its start
     * @param host where it goes
     * @param number of the queue pair there
     * @param queueKey that it carries
     */
    public void sendTo(long wrId, MemoryRegion source, long length, AddressHandle host, int number, int queueKey) {
        require(
                queuePair.postSendTo(wrId, source, 0, length, host, number, queueKey, SendFlags.SIGNALLED),
                "datagram " + wrId);
    }

    /**
     * Posts a signalled compare-and-swap.
     *
     * @param wrId number of the request
     * @param result where the old value goes
     * @param offset bytes from its start
     * @param word address of the word
     * @param rkey key of that memory
     * @param expected what it must be
     * @param replacement what it becomes
     */
    public void compareAndSwap(
            long wrId, MemoryRegion result, long offset, long word, int rkey, long expected, long replacement) {
        require(
                queuePair.postCompareAndSwap(
                        wrId, result, offset, word, rkey, expected, replacement, SendFlags.SIGNALLED),
                "COMPARE_AND_SWAP " + wrId);
    }

    /**
     * Posts a signalled fetch-and-add.
     *
     * @param wrId number of the request
     * @param result where the old value goes
     * @param offset bytes from its start
     * @param word address of the word
     * @param rkey key of that memory
     * @param delta what is added
     */
    public void fetchAndAdd(long wrId, MemoryRegion result, long offset, long word, int rkey, long delta) {
        require(
                queuePair.postFetchAndAdd(wrId, result, offset, word, rkey, delta, SendFlags.SIGNALLED),
                "FETCH_AND_ADD " + wrId);
    }

    /**
     * Posts a signalled WRITE with an immediate.
     *
     * @param wrId number of the request
     * @param source where the data comes from
     * @param length bytes from its start
     * @param remoteAddress where it goes
     * @param rkey key of that memory
     * @param immediate handed to the peer
     */
    public void writeImmediate(
            long wrId, MemoryRegion source, long length, long remoteAddress, int rkey, int immediate) {
        require(
                queuePair.postWriteImmediate(
                        wrId, source, 0, length, remoteAddress, rkey, immediate, SendFlags.SIGNALLED),
                "WRITE_IMMEDIATE " + wrId);
    }

    /**
     * Posts a signalled SEND that invalidates a key of the peer.
     *
     * @param wrId number of the request
     * @param source where the data comes from
     * @param length bytes from its start
     * @param peersKey what is invalidated
     */
    public void sendInvalidate(long wrId, MemoryRegion source, long length, int peersKey) {
        require(
                queuePair.postSendInvalidate(wrId, source, 0, length, peersKey, SendFlags.SIGNALLED),
                "SEND_INVALIDATE " + wrId);
    }

    /**
     * Posts a signalled bind of a window of this side.
     *
     * @param wrId number of the request
     * @param window not bound
     * @param region of this side
     * @param offset where the part begins
     * @param length bytes of the part
     * @param access what the peer may do
     */
    public void bind(
            long wrId, MemoryWindow window, MemoryRegion region, long offset, long length, AccessFlag... access) {
        require(
                queuePair.postBindWindow(wrId, window, region, offset, length, Set.of(access), SendFlags.SIGNALLED),
                "BIND_WINDOW " + wrId);
    }

    /**
     * Posts a signalled invalidation of a window of this side.
     *
     * @param wrId number of the request
     * @param key of the window
     */
    public void invalidate(long wrId, int key) {
        require(queuePair.postInvalidate(wrId, key, SendFlags.SIGNALLED), "INVALIDATE " + wrId);
    }

    /**
     * Posts a RECV.
     *
     * @param wrId number of the request
     * @param sink where the data goes
     * @param offset bytes from its start
     * @param length bytes
     */
    public void receive(long wrId, MemoryRegion sink, long offset, long length) {
        require(queuePair.postReceive(wrId, sink, offset, length), "RECV " + wrId);
    }

    /** Waits until the queue pair is in ERROR and {@code disconnected()} has completed with a reason. */
    public void awaitError() {
        scope.await(node.name() + "'s queue pair to go to ERROR", () -> queuePair.state() == QueuePairState.ERROR);
        scope.await(node.name() + "'s disconnected() to complete", () -> disconnectReason.get() != null);
        String reason = disconnectReason.get();
        if (reason == null || reason.isBlank()) {
            throw new AssertionError(node.name() + "'s disconnected() completed without a reason");
        }
        if (stateAtDisconnect == QueuePairState.READY_TO_SEND) {
            throw new AssertionError(node.name() + "'s disconnected() completed in state " + stateAtDisconnect);
        }
    }

    /**
     * Fails unless the request was accepted.
     *
     * @param status result of posting
     * @param what names the request
     */
    public static void require(PostStatus status, String what) {
        if (status != PostStatus.ACCEPTED) {
            throw new AssertionError("posting " + what + ": expected ACCEPTED, got " + status);
        }
    }
}
