package org.softrdma.kv.server.session;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.kv.memcached.TextDecoder;
import org.softrdma.kv.memcached.TextProtocol;
import org.softrdma.kv.server.host.ClientChannel;
import org.softrdma.kv.server.host.ClientHandler;
import org.softrdma.kv.server.host.OutOfBuffersException;

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

    private final KvService service;
    private final ServerCounters counters;
    private final ConnectionList connections;
    private final ClientChannel channel;
    private final TextDecoder decoder;
    private final Conversation conversation;
    private final Commands commands;
    private final ArrayDeque<ByteBuffer> backlog = new ArrayDeque<>();
    private int requestsLeft;

    /** Requests are being run further up the stack. */
    private boolean processing;

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
        this.decoder = new TextDecoder(service.store().turns());
        this.conversation = new Conversation(service, channel, decoder, this::process, this::failed);
        this.commands = new Commands(server, conversation, decoder);
        connections.add(conversation);
    }

    @Override
    public void opened() {
        counters.totalConnections.increment();
        if (counters.currentConnections.incrementAndGet()
                > service.settings().rules().maxConnections()) {
            counters.rejectedConnections.increment();
            conversation.reply(TextProtocol.TOO_MANY_CONNECTIONS);
            conversation.closeAfterOutput();
        }
    }

    @Override
    public void ended() {
        counters.currentConnections.decrementAndGet();
        release();
    }

    @Override
    public void received(ByteBuffer bytes) {
        if (conversation.isClosing()) {
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

    /** Runs requests until there is no input, no room for output, or the connection is closed. */
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
                } else if (backlog.isEmpty()) {
                    return;
                } else {
                    process(backlog.element());
                }
            }
        } finally {
            processing = false;
        }
    }

    private void process(ByteBuffer bytes) {
        boolean more = true;
        // Asked before each request, so that no command can forget to: what one of them writes at most is bounded.
        while (more && conversation.hasRoom()) {
            switch (decoder.next(bytes)) {
                case NEED_INPUT -> more = false;
                case REQUEST -> {
                    commands.execute(decoder.request());
                    countRequest(bytes.hasRemaining() || backlog.size() > 1);
                }
                case VALUE -> commands.endValue(decoder.isValueTerminated());
                case BINARY -> {
                    conversation.reply(TextProtocol.BINARY_REFUSED);
                    conversation.closeAfterOutput();
                }
                case LINE_TOO_LONG -> conversation.closeAfterOutput();
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
        commands.release();
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
