package org.softrdma.kv.server.session;

import java.io.IOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.kv.binary.AnswerFrame;
import org.softrdma.kv.binary.Status;
import org.softrdma.kv.memcached.TextProtocol;
import org.softrdma.kv.server.host.ClientChannel;
import org.softrdma.kv.server.host.ClientHandler;
import org.softrdma.kv.server.host.OutOfBuffersException;
import org.softrdma.kv.server.watch.WatchLog;

/**
 * One client on the memcached port: runs its requests in order, and sends the answers.
 *
 * <p>Memory per connection is bounded: answers beyond the network's high water mark, or answers to rgets beyond the
 * ring of the queue pair, stop the connection in the middle of whatever it does, and it reads no more until there is
 * room. Owned by the event loop thread of its channel; {@link Conversation} says what other threads may do.
 */
public final class MemcachedConnection implements ClientHandler {
    private static final Logger LOG = LoggerFactory.getLogger(MemcachedConnection.class);

    /** With more buffers than this waiting for the next turn, reading stops. */
    private static final int MOST_BUFFERS_BEHIND_TURN = 4;

    /** What is answered to a client that is one too many, and that may speak the binary protocol only. */
    private static final byte[] TOO_MANY_CONNECTIONS = AnswerFrame.unasked(Status.BUSY, "Too many open connections");

    private final KvService service;
    private final ServerCounters counters;
    private final ConnectionList connections;
    private final ClientChannel channel;
    private final Conversation conversation;
    private final ArrayDeque<ByteBuffer> backlog = new ArrayDeque<>();
    private int requestsLeft;

    /** Of the client; kept, because a closed channel has none. */
    private @Nullable SocketAddress address;

    /** Requests are being run further up the stack. */
    private boolean processing;

    /** The client sends no more. */
    private boolean inputEnded;

    /**
     * A session that has not begun.
     *
     * @param server what it uses
     * @param channel the client's connection
     */
    public MemcachedConnection(ServerParts server, ClientChannel channel) {
        this.service = server.service();
        this.counters = service.counters();
        this.connections = server.connections();
        this.channel = channel;
        this.conversation = new Conversation(service, channel, this::process, this::failed);
        conversation.speak(new ProtocolDetector(server, conversation));
        connections.add(conversation);
    }

    @Override
    public void opened() {
        counters.totalConnections.increment();
        if (counters.currentConnections.incrementAndGet()
                > service.settings().rules().maxConnections()) {
            counters.rejectedConnections.increment();
            boolean binary = service.settings().rules().protocol() == ClientRules.Protocol.BINARY;
            conversation.reply(binary ? TOO_MANY_CONNECTIONS : TextProtocol.TOO_MANY_CONNECTIONS);
            conversation.closeAfterOutput();
            return;
        }
        address = channel.remoteAddress();
        CommandLog log = conversation.log();
        if (log != null) {
            log.opened(address);
        }
        if (service.watchLog().wants(WatchLog.CONNECTIONS)) {
            service.watchLog().connected(address, conversation.number());
        }
    }

    @Override
    public void ended() {
        counters.currentConnections.decrementAndGet();
        CommandLog log = conversation.log();
        if (log != null) {
            log.closed(conversation.closeReason());
        }
        if (service.watchLog().wants(WatchLog.CONNECTIONS)) {
            service.watchLog().closed(address, conversation.closeReason(), conversation.number());
        }
        release();
    }

    @Override
    public void received(ByteBuffer bytes) {
        if (conversation.isClosing()
                || conversation.isWatching()) { // what a watcher says is not heard, as in memcached
            dropBacklog();
            channel.releaseInput();
            return;
        }
        counters.bytesRead.add(bytes.remaining());
        conversation.heard();
        backlog.add(bytes);
        if (backlog.size() > MOST_BUFFERS_BEHIND_TURN) {
            conversation.readNoMore();
        }
        process();
    }

    @Override
    public void receivedAll() {
        conversation.flush();
    }

    @Override
    public void unsent() {
        conversation.flush(); // which accounts for what is left
    }

    @Override
    public void inputEnded() {
        inputEnded = true;
        process();
    }

    @Override
    public void writable() {
        conversation.resume();
    }

    @Override
    public void failed(Throwable cause) {
        if (cause instanceof IOException) {
            LOG.debug("connection from {} ended: {}", channel.remoteAddress(), cause.getMessage());
        } else if (cause instanceof OutOfBuffersException) {
            LOG.warn(
                    "connection from {} is closed: no memory for its buffers is left, see -XX:MaxDirectMemorySize",
                    channel.remoteAddress());
        } else {
            LOG.error("connection from {} is closed after a fault", channel.remoteAddress(), cause);
        }
        conversation.close();
        if (cause instanceof Error) {
            service.fail(cause);
        }
    }

    /** Runs requests until there is no input, no room for output, or the connection is closed. Closes it behind the last. */
    private void process() {
        if (processing) {
            return; // writing may make the channel writable again, which resumes
        }
        processing = true;
        requestsLeft = service.settings().rules().requestsPerTurn();
        try {
            while (conversation.isRunning()) {
                @Nullable Runnable rest = conversation.takeUnfinished();
                if (rest != null) {
                    rest.run();
                } else if (!backlog.isEmpty()) {
                    process(backlog.element());
                } else if (inputEnded) {
                    conversation.closeAfterOutput(); // behind the last answer
                } else {
                    return;
                }
            }
            if (inputEnded && conversation.isWatching()) { // it will hear of nothing that it could answer
                conversation.closeAfterOutput();
            }
        } finally {
            processing = false;
        }
    }

    private void process(ByteBuffer bytes) {
        boolean more = true;
        // Asked before each request, so that no command can forget to: what one of them writes at most is bounded.
        while (more && conversation.hasRoom()) {
            switch (conversation.codec().next(bytes)) {
                case NEED_INPUT -> more = false;
                case REQUEST -> countRequest(bytes.hasRemaining() || backlog.size() > 1);
                case OTHER -> {}
            }
        }
        if (!more && !conversation.isClosing()) {
            backlog.remove();
            channel.releaseInput();
        }
    }

    /** Yields to other connections after as many requests as a turn may have. */
    private void countRequest(boolean more) {
        if (--requestsLeft == 0 && more && !conversation.endTurn()) {
            requestsLeft = 1; // stopped anyway; if it goes on at once, then until the next request
        }
    }

    @Override
    public void release() {
        connections.remove(conversation);
        conversation.release();
        conversation.codec().release();
        dropBacklog();
    }

    /** No request of what has come will run any more. */
    private void dropBacklog() {
        while (!backlog.isEmpty()) {
            backlog.remove();
            channel.releaseInput();
        }
    }
}
