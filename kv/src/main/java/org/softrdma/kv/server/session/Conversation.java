package org.softrdma.kv.server.session;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.kv.binary.AnswerFrame;
import org.softrdma.kv.memcached.ReplyLine;
import org.softrdma.kv.memcached.TextProtocol;
import org.softrdma.kv.server.host.ClientChannel;
import org.softrdma.kv.server.rdma.RdmaClient;
import org.softrdma.kv.server.watch.CloseReason;
import org.softrdma.kv.server.watch.Watcher;
import org.softrdma.kv.server.watch.WatcherOutput;
import org.softrdma.kv.store.StoredItem;

/**
 * A connection as its commands see it. They use it to reply, to direct a value into the store, and to suspend the
 * connection while there is no room or another thread works for it. {@link ConversationState} says whether the next
 * request may run. Owned by the thread of the connection, unless a method says otherwise.
 */
final class Conversation implements WatcherOutput {
    private static final Logger LOG = LoggerFactory.getLogger(Conversation.class);
    private static final byte[] NO_END = {};

    private final KvService service;
    private final ClientChannel channel;
    private final Runnable goOn;
    private final Consumer<Throwable> failed;
    private final ConnectionOutput output;
    private final RdmaClient rdmaClient;
    private final long number;
    private final @Nullable CommandLog log;
    private volatile long lastInputSeconds;

    /** What the client speaks; null until {@link #speak}, which comes before anything else. */
    private volatile @Nullable ProtocolCodec codec;

    private ConversationState state = ConversationState.RUNNING;

    /** What is left of a request that was stopped. */
    private @Nullable Runnable unfinished;

    /** Why it ends. */
    private CloseReason closeReason = CloseReason.NORMAL;

    /** What the client has asked to see, or null. */
    private @Nullable Watcher watcher;

    /**
     * A conversation that may run.
     *
     * @param goOn runs further requests
     * @param failed told what fails in a task that was to be run later
     */
    Conversation(KvService service, ClientChannel channel, Runnable goOn, Consumer<Throwable> failed) {
        this.service = service;
        this.channel = channel;
        this.goOn = goOn;
        this.failed = failed;
        this.output = new ConnectionOutput(service, channel, () -> guard(this::drained));
        this.rdmaClient = new RdmaClient(this::remoteAddress);
        this.lastInputSeconds = service.nowSeconds();
        this.number = service.counters().lastConnection.incrementAndGet();
        this.log = CommandLog.of(number);
    }

    /** Names this connection among all that the server ever had. Any thread. */
    long number() {
        return number;
    }

    private @Nullable InetAddress remoteAddress() {
        return channel.remoteAddress() instanceof InetSocketAddress tcp ? tcp.getAddress() : null;
    }

    /** The client's queue pair. */
    RdmaClient rdmaClient() {
        return rdmaClient;
    }

    /** What the client speaks. */
    ProtocolCodec codec() {
        ProtocolCodec protocol = codec;
        if (protocol == null) {
            throw new IllegalStateException("the connection has no protocol yet");
        }
        return protocol;
    }

    /** Sets what the client speaks. */
    void speak(ProtocolCodec protocol) {
        codec = protocol;
    }

    /** True if the next request may run. */
    boolean isRunning() {
        return state == ConversationState.RUNNING;
    }

    boolean isClosing() {
        return state == ConversationState.CLOSING;
    }

    /** Input has come. */
    void heard() {
        lastInputSeconds = service.nowSeconds();
    }

    /** True if more may be written; otherwise a connection that runs requests is suspended until it may. */
    @Override
    public boolean hasRoom() {
        if (isWatching()) {
            return output.hasRoom();
        }
        if (isRunning() && !output.hasRoom()) {
            suspend();
        }
        return isRunning();
    }

    /** No further request runs until {@link #resumeLater}, or until there is room for output. */
    void suspend() {
        state = state.to(ConversationState.SUSPENDED);
        channel.reading(false);
    }

    /** Sets what is left of the request, to be run once there is room again. */
    void continueLater(Runnable rest) {
        unfinished = rest;
    }

    /** What is left of the last request, or null; the caller runs it. */
    @Nullable
    Runnable takeUnfinished() {
        Runnable rest = unfinished;
        unfinished = null;
        return rest;
    }

    /** There is room for answers to rgets again. Any thread. */
    void resumeLater() {
        runLater(this::resume);
    }

    /** No further request runs until {@link #done}. */
    void await() {
        state = state.to(ConversationState.AWAITING);
        channel.reading(false);
    }

    /** What the connection awaited is done. Any thread. */
    void done(byte[] answer) {
        runLater(() -> {
            if (state == ConversationState.AWAITING) {
                state = state.to(ConversationState.SUSPENDED);
                reply(answer);
                resume();
            }
        });
    }

    /** Lets other connections of the thread have their turn; false if this one is stopped anyway. */
    boolean endTurn() {
        if (!isRunning()) {
            return false;
        }
        state = state.to(ConversationState.YIELDING);
        service.counters().yields.increment();
        channel.nextTurn(() -> guard(this::nextTurn));
        return true;
    }

    private void nextTurn() {
        if (isClosing()) {
            return;
        }
        state = state.to(ConversationState.RUNNING);
        goOn.run();
        if (isRunning() || isClosing()) {
            channel.reading(true);
        }
        flush();
    }

    /** Stops reading until the next turn if this connection has yielded: it has input enough. */
    void readNoMore() {
        if (state == ConversationState.YIELDING) {
            channel.reading(false);
        }
    }

    /** The network has taken what it did not take at first. */
    private void drained() {
        if (isWatching()) {
            watchOn();
        } else if (!isClosing()) {
            resume();
            flush();
        }
    }

    /** There is room again. */
    void resume() {
        if (isWatching()) {
            watchOn();
        }
        if (state != ConversationState.SUSPENDED) {
            return;
        }
        state = state.to(ConversationState.RUNNING);
        goOn.run();
        if (state != ConversationState.SUSPENDED && state != ConversationState.AWAITING) {
            channel.reading(true);
        }
        flush();
    }

    /** From now on the client only receives events. */
    void watch(Watcher newWatcher) {
        watcher = newWatcher;
        state = state.to(ConversationState.WATCHING);
    }

    boolean isWatching() {
        return state == ConversationState.WATCHING;
    }

    @Override
    public void sendLater() {
        runLater(this::watchOn);
    }

    @Override
    public void send(byte[] lines) {
        reply(lines);
        flush();
    }

    private void watchOn() {
        if (watcher != null) {
            watcher.send();
        }
    }

    /** True if answers to earlier requests are still here. */
    boolean hasOutput() {
        return output.isPending();
    }

    /** Says where the value behind the present request goes; see {@link ProtocolCodec#expectValue}. */
    void expectValue(@Nullable Consumer<ByteBuffer> taker, int length) {
        codec().expectValue(taker, length);
    }

    /** What it asks and is told, if that is logged. */
    @Nullable
    CommandLog log() {
        return log;
    }

    /** Who it is did not hold. */
    void loginRefused() {
        LOG.info("a login from {} was refused", channel.remoteAddress());
    }

    void reply(byte[] bytes) {
        if (log != null) {
            log.told(bytes, bytes.length);
        }
        output.write(bytes, bytes.length);
    }

    void reply(ReplyLine line) {
        if (log != null) {
            log.told(line.bytes(), line.length());
        }
        output.write(line.bytes(), line.length());
    }

    void reply(AnswerFrame frame) {
        if (log != null) {
            log.told(frame);
        }
        output.write(frame.bytes(), frame.length());
    }

    /** Answers with a line and the value of an item, with the lock of its key held. */
    void reply(byte[] line, int lineLength, StoredItem item) {
        if (log != null) {
            log.told(line, lineLength);
        }
        output.write(line, lineLength, item, TextProtocol.CRLF);
    }

    /** Answers with a frame and the value of an item, with the lock of its key held. */
    void reply(AnswerFrame frame, StoredItem item) {
        if (log != null) {
            log.told(frame);
        }
        output.write(frame.bytes(), frame.length(), item, NO_END);
    }

    void flush() {
        output.flush();
    }

    /** Ends it because of what the client did or what broke. */
    void closeAfterError() {
        closeReason = CloseReason.ERROR;
        closeAfterOutput();
    }

    CloseReason closeReason() {
        return closeReason;
    }

    void closeAfterOutput() {
        state = state.to(ConversationState.CLOSING);
        output.closeAfterwards();
    }

    /** Closes it at once. */
    void close() {
        state = state.to(ConversationState.CLOSING);
        channel.close();
    }

    /** Gives back what it holds. */
    void release() {
        if (watcher != null) {
            service.watchLog().remove(watcher);
            watcher = null;
        }
        state = state.to(ConversationState.CLOSING);
        output.release();
    }

    /** Runs a task on the thread of the connection; what fails there ends it, as in its other calls. Any thread. */
    private void runLater(Runnable task) {
        channel.execute(() -> guard(task));
    }

    /** A network logs what fails in a task, and forgets it. */
    private void guard(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            failed.accept(e);
        }
    }

    /** Ends the connection unless it is in the middle of something. Any thread; asked again until it has ended. */
    void drain() {
        runLater(() -> {
            if ((isRunning() && !codec().isWithinRequest() && !output.isPending()) || isWatching()) {
                close();
            }
        });
    }

    /** Ends the connection if nothing came since a time, in seconds since 1970; a queue pair keeps it. Any thread. */
    void closeIfIdleSince(long seconds) {
        if (lastInputSeconds < seconds && rdmaClient.answers() == null) {
            channel.execute(() -> {
                // Also one that is closing, and whose last output nobody reads; but not one that has nothing to say.
                if (lastInputSeconds < seconds && !isWatching()) {
                    closeReason = CloseReason.IDLE_TIMEOUT;
                    service.counters().idleKicks.increment();
                    close();
                }
            });
        }
    }

    /**
     * Its lines of {@code stats conns}. Any thread; what another connection is doing may have changed already.
     *
     * @param own true if this connection asks
     * @param text writes an address as memcached does
     */
    String describe(boolean own, Function<@Nullable SocketAddress, String> text) {
        String doing = isWatching()
                ? "conn_watch"
                : own ? "conn_parse_cmd" : codec().expectsValue() ? "conn_nread" : "conn_read";
        String prefix = "STAT " + number + ":";
        return prefix + "addr " + text.apply(channel.remoteAddress()) + "\r\n"
                + prefix + "listen_addr " + text.apply(channel.localAddress()) + "\r\n"
                + prefix + "state " + doing + "\r\n"
                + prefix + "secs_since_last_cmd " + Math.max(0, service.nowSeconds() - lastInputSeconds) + "\r\n";
    }
}
