package org.softrdma.kv.server;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.internal.OutOfDirectMemoryError;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.kv.memcached.ReplyLine;
import org.softrdma.kv.memcached.TextDecoder;
import org.softrdma.kv.memcached.TextProtocol;
import org.softrdma.kv.memcached.TextRequest;
import org.softrdma.kv.store.StoredItem;

/**
 * One client on the memcached port: runs its requests in order, and sends the answers.
 *
 * <p>Memory per connection is bounded: answers beyond Netty's high water mark, or answers to rgets beyond the ring of the
 * queue pair, stop the connection in the middle of whatever it does, and it reads no more until there is room. Owned by the
 * event loop thread of its channel, except for {@link #resumeLater} and what {@link RdmaCommands} says.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a failed write closes the channel, and that is where it is handled
final class MemcachedConnection extends ChannelInboundHandlerAdapter {
    private static final Logger LOG = LoggerFactory.getLogger(MemcachedConnection.class);

    /** With more input than that waiting for the next turn, no more is read. */
    private static final int MOST_BUFFERS_BEHIND_TURN = 4;

    private final KvServer server;
    private final ServerCounters counters;
    private final TextDecoder decoder = new TextDecoder();
    private final ClassicCommands classic;
    private final MetaCommands meta;
    private final AdminCommands admin;
    private final RdmaCommands rdma;
    private final ArrayDeque<ByteBuf> backlog = new ArrayDeque<>();

    private volatile @Nullable ChannelHandlerContext context;
    private volatile long lastInputSeconds;
    private @Nullable ConnectionOutput output;
    private boolean fillingMeta;

    /** What is left of a request that was stopped. */
    private @Nullable Runnable unfinished;

    /** No room for output, or for answers to rgets. */
    private boolean suspended;

    /** A request that another thread works on; nothing else runs until it is done. */
    private boolean awaiting;

    /** Other connections have their turn; {@link #nextTurn} goes on. */
    private boolean yielding;

    private int requestsLeft;

    /** Not null until the client has said who it is. */
    private @Nullable Login login;

    private boolean closing;
    private boolean processing;

    MemcachedConnection(KvServer server) {
        this.server = server;
        this.counters = server.counters();
        this.classic = new ClassicCommands(server, this);
        this.meta = new MetaCommands(server, this);
        this.admin = new AdminCommands(server, this);
        this.rdma = new RdmaCommands(server, this);
        Passwords passwords = server.context().passwords();
        this.login = passwords == null ? null : new Login(passwords, counters, this);
        decoder.onlyShortLines(login != null);
        this.lastInputSeconds = server.nowSeconds();
    }

    /** The queue pair of this client. */
    RdmaCommands rdma() {
        return rdma;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        context = ctx;
        output = new ConnectionOutput(server, ctx, this::drained);
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        counters.totalConnections.increment();
        if (counters.currentConnections.incrementAndGet() > server.maxConnections()) {
            counters.rejectedConnections.increment();
            reply(TextProtocol.TOO_MANY_CONNECTIONS);
            closeAfterOutput();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        counters.currentConnections.decrementAndGet();
        release();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        release();
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        ByteBuf bytes = (ByteBuf) message;
        if (closing) {
            bytes.release();
            return;
        }
        counters.bytesRead.add(bytes.readableBytes());
        lastInputSeconds = server.nowSeconds();
        backlog.add(bytes);
        if (yielding && backlog.size() > MOST_BUFFERS_BEHIND_TURN) {
            context().channel().config().setAutoRead(false);
        }
        process();
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        flush();
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        if (ctx.channel().isWritable()) {
            resume();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        if (cause instanceof IOException) {
            LOG.debug("connection from {} ended: {}", ctx.channel().remoteAddress(), cause.getMessage());
        } else if (cause instanceof OutOfDirectMemoryError) {
            LOG.warn(
                    "connection from {} is closed: no memory for its buffers is left, see -XX:MaxDirectMemorySize",
                    ctx.channel().remoteAddress());
        } else {
            LOG.error(
                    "connection from {} is closed after a fault", ctx.channel().remoteAddress(), cause);
        }
        closing = true;
        ctx.close();
        // Too little direct memory is Netty's own account, of which this connection now gives back its part.
        if (cause instanceof Error && !(cause instanceof OutOfDirectMemoryError)) {
            server.fail(cause);
        }
    }

    /** Ends the connection if nothing came since a time, in seconds since 1970; a queue pair keeps it. Any thread. */
    void closeIfIdleSince(long seconds) {
        ChannelHandlerContext ctx = context;
        if (ctx != null && lastInputSeconds < seconds && !rdma.isBound()) {
            ctx.executor().execute(() -> {
                if (lastInputSeconds < seconds) { // also one that is closing, and whose last output nobody reads
                    counters.idleKicks.increment();
                    closing = true;
                    ctx.close();
                }
            });
        }
    }

    /**
     * Its lines of {@code stats conns}. Any thread: what another connection does is a glance, and may have changed already.
     *
     * @param number names the connection in the lines
     * @param own true if this connection asks
     * @param text where it listens and whence it came
     */
    String describe(long number, boolean own, Function<@Nullable SocketAddress, String> text) {
        Channel channel = context().channel();
        String state = own ? "conn_parse_cmd" : decoder.expectsValue() ? "conn_nread" : "conn_read";
        String prefix = "STAT " + number + ":";
        return prefix + "addr " + text.apply(channel.remoteAddress()) + "\r\n"
                + prefix + "listen_addr " + text.apply(channel.localAddress()) + "\r\n"
                + prefix + "state " + state + "\r\n"
                + prefix + "secs_since_last_cmd " + Math.max(0, server.nowSeconds() - lastInputSeconds) + "\r\n";
    }

    /** The client's address; null if it came by the Unix socket. */
    @Nullable
    InetAddress remoteAddress() {
        return context().channel().remoteAddress() instanceof InetSocketAddress tcp ? tcp.getAddress() : null;
    }

    /** There is room for answers to rgets again. Any thread. */
    void resumeLater() {
        runLater(this::resume);
    }

    /** The request goes on with this once there is room again. */
    void continueLater(Runnable rest) {
        unfinished = rest;
    }

    /** No further request is run until {@link #done}. */
    void await() {
        awaiting = true;
        suspend();
    }

    /** What the connection awaited is done. Any thread. */
    void done(byte[] answer) {
        runLater(() -> {
            awaiting = false;
            if (!closing) {
                reply(answer);
                resume();
            }
        });
    }

    /** Says where the value behind the present request goes; see {@link TextDecoder#expectValue}. */
    void expectValue(@Nullable MemorySegment target, long offset, int length) {
        decoder.expectValue(target, offset, length);
    }

    /** True if more may be written; otherwise the connection is suspended until it may. */
    boolean hasRoom() {
        if (!suspended && !output().hasRoom()) {
            suspend();
        }
        return !suspended;
    }

    void suspend() {
        suspended = true;
        context().channel().config().setAutoRead(false);
    }

    void reply(byte[] bytes) {
        output().write(bytes, bytes.length);
    }

    void reply(ReplyLine line) {
        output().write(line.bytes(), line.length());
    }

    /** Answers with a line and the value of an item, with the lock of its key held. */
    void reply(byte[] line, int lineLength, StoredItem item) {
        output().write(line, lineLength, item);
    }

    void closeAfterOutput() {
        closing = true;
        output().closeAfterwards();
    }

    /** The socket has taken what it did not take at first. */
    private void drained() {
        if (!closing) {
            resume();
            flush();
        }
    }

    private void resume() {
        if (suspended && !awaiting && !closing) {
            suspended = false;
            process();
            if (!suspended) {
                context().channel().config().setAutoRead(true);
            }
            flush();
        }
    }

    /** Runs requests until there is no input, no room for output, or the connection is closed. */
    private void process() {
        if (processing) {
            return; // writing may make the channel writable again, which resumes
        }
        processing = true;
        requestsLeft = server.context().requestsPerTurn();
        try {
            while (!suspended && !closing && !yielding) {
                Runnable rest = unfinished;
                if (rest != null) {
                    unfinished = null;
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

    private void process(ByteBuf input) {
        ByteBuffer bytes = input.internalNioBuffer(input.readerIndex(), input.readableBytes());
        int start = bytes.position();
        boolean more = true;
        // Asked before each request, so that no command can forget to: what one of them writes at most is bounded.
        while (more && !closing && !yielding && hasRoom()) {
            switch (decoder.next(bytes)) {
                case NEED_INPUT -> more = false;
                case REQUEST -> {
                    execute(decoder.request());
                    if (--requestsLeft == 0 && (bytes.hasRemaining() || backlog.size() > 1)) {
                        endTurn();
                    }
                }
                case VALUE -> endValue();
                case BINARY -> {
                    reply(TextProtocol.BINARY_REFUSED);
                    closeAfterOutput();
                }
                case LINE_TOO_LONG -> closeAfterOutput();
            }
        }
        input.skipBytes(bytes.position() - start);
        if (!more && !closing) {
            backlog.remove().release();
        }
    }

    /** Goes on behind what other connections of this thread have to do. */
    private void endTurn() {
        yielding = true;
        counters.yields.increment();
        runLater(this::nextTurn);
    }

    /** Runs a task on the thread of the channel; what fails there ends the connection, as in its other calls. Any thread. */
    private void runLater(Runnable task) {
        ChannelHandlerContext ctx = context();
        ctx.executor().execute(() -> {
            try {
                task.run();
            } catch (RuntimeException | Error e) {
                exceptionCaught(ctx, e);
            }
        });
    }

    private void nextTurn() {
        yielding = false;
        if (!closing) {
            process();
            if (!suspended && !yielding) {
                context().channel().config().setAutoRead(true);
            }
            flush();
        }
    }

    private void execute(TextRequest request) {
        if (login == null) {
            executeCommand(request);
        } else {
            login.execute(request);
        }
    }

    private void executeCommand(TextRequest request) {
        switch (request.command()) {
            case GET, GETS, GAT, GATS -> classic.get(request);
            case SET, ADD, REPLACE, APPEND, PREPEND, CAS -> {
                fillingMeta = false;
                classic.store(request);
            }
            case DELETE -> classic.delete(request);
            case INCR, DECR -> classic.incrementOrDecrement(request);
            case TOUCH -> classic.touch(request);
            case FLUSH_ALL -> admin.flushAll(request);
            case VERSION -> reply(server.versionLine());
            case VERBOSITY -> admin.verbosity(request);
            case STATS -> admin.stats(request);
            case SLABS -> admin.slabs(request);
            case LRU_CRAWLER -> admin.crawler(request);
            case CACHE_MEMLIMIT -> admin.memoryLimit(request);
            case WATCH -> reply(TextProtocol.WATCH_DISABLED);
            case DEBUGTIME -> admin.debugTime(request);
            case SHUTDOWN -> admin.shutdown(request);
            case QUIT, CLOSE -> closeAfterOutput();
            case META_NOOP -> reply(TextProtocol.META_NOOP);
            case META_GET -> meta.get(request);
            case META_SET -> {
                fillingMeta = true;
                meta.set(request);
            }
            case META_DELETE -> meta.delete(request);
            case META_ARITHMETIC -> meta.arithmetic(request);
            case META_DEBUG -> meta.debug(request);
            case RDMA_HELLO -> {
                if (rdma.hello(request)) {
                    classic.answerLocators();
                }
            }
            case RDMA_ARENAS -> reply(server.arenaLines());
            case RGET -> rdma.get(request);
            case INVALID -> refuse(request);
        }
    }

    private void refuse(TextRequest request) {
        if (request.valueFollows()) {
            expectValue(null, 0, request.valueLength());
        }
        if (!request.noreply()) {
            reply(request.error());
        }
    }

    private void endValue() {
        if (login != null) {
            login = login.endValue(decoder.isValueTerminated()) ? null : login;
            decoder.onlyShortLines(login != null);
        } else if (fillingMeta) {
            meta.endValue(decoder.isValueTerminated());
        } else {
            classic.endValue(decoder.isValueTerminated());
        }
    }

    private void flush() {
        output().flush();
    }

    /** Gives back what the connection holds. */
    private void release() {
        closing = true;
        classic.release();
        meta.release();
        if (output != null) {
            output.release();
        }
        while (!backlog.isEmpty()) {
            backlog.remove().release();
        }
        rdma.release();
    }

    private ConnectionOutput output() {
        ConnectionOutput made = output;
        if (made == null) {
            throw new IllegalStateException("not in a pipeline");
        }
        return made;
    }

    private ChannelHandlerContext context() {
        ChannelHandlerContext ctx = context;
        if (ctx == null) {
            throw new IllegalStateException("not in a pipeline");
        }
        return ctx;
    }
}
