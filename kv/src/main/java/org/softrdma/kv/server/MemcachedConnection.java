package org.softrdma.kv.server;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.kv.memcached.Expiry;
import org.softrdma.kv.memcached.HelloDescriptor;
import org.softrdma.kv.memcached.TextCommand;
import org.softrdma.kv.memcached.TextDecoder;
import org.softrdma.kv.memcached.TextProtocol;
import org.softrdma.kv.memcached.TextRequest;
import org.softrdma.kv.store.ItemDescriptor;
import org.softrdma.kv.store.ItemVisitor;
import org.softrdma.kv.store.Locator;
import org.softrdma.kv.store.NewItem;
import org.softrdma.kv.store.PinnedItem;
import org.softrdma.verbs.VerbsException;

/**
 * One client on the memcached port: runs its requests against the store, in order, and answers.
 *
 * <p>Memory per connection is bounded: answers beyond Netty's high water mark, or answers to rgets beyond the ring of the
 * queue pair, stop the connection in the middle of whatever it does, and it reads no more until there is room. Owned by the
 * event loop thread of its channel, except for {@link #bind}, {@link #unbind} and {@link #resumeLater}.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a failed write closes the channel, and that is where it is handled
final class MemcachedConnection extends ChannelInboundHandlerAdapter implements ItemVisitor {
    private static final Logger LOG = LoggerFactory.getLogger(MemcachedConnection.class);

    private static final int OUTPUT_BUFFER_LENGTH = 64 * 1024;
    private static final byte[] CLOSED_QUEUE_PAIR = TextProtocol.line("CLIENT_ERROR no queue pair");
    private static final byte[] UNKNOWN_VERSION =
            TextProtocol.line("CLIENT_ERROR rdma version not supported, expected " + HelloDescriptor.VERSION);

    private final KvServer server;
    private final ServerCounters counters;
    private final TextDecoder decoder = new TextDecoder();
    private final byte[] scratch = new byte[TextProtocol.MAX_VALUE_LINE_LENGTH];
    private final ArrayDeque<ByteBuf> backlog = new ArrayDeque<>();

    private @Nullable ChannelHandlerContext context;
    private @Nullable ByteBuf output;
    private @Nullable NewItem filling;
    private boolean fillingNoreply;
    private boolean unfinished;
    private boolean suspended;
    private boolean closing;
    private boolean processing;
    private int nextKey;
    private boolean withLocators;
    private @Nullable String token;

    /** Set and cleared by the completion thread of the RDMA port, used by the event loop thread. */
    private volatile @Nullable RdmaSession session;

    MemcachedConnection(KvServer server) {
        this.server = server;
        this.counters = server.counters();
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        context = ctx;
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
        if (closing) {
            ((ByteBuf) message).release();
            return;
        }
        backlog.add((ByteBuf) message);
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
        } else {
            LOG.error(
                    "connection from {} is closed after a fault", ctx.channel().remoteAddress(), cause);
        }
        closing = true;
        ctx.close();
    }

    /** A queue pair showed our token. By the completion thread. */
    void bind(RdmaSession bound) {
        session = bound;
        if (!context().channel().isActive()) {
            bound.disconnect();
        }
    }

    /** The queue pair is gone. By the completion thread. */
    void unbind(RdmaSession bound) {
        if (session == bound) {
            session = null;
        }
    }

    /** There is room for answers to rgets again. Any thread. */
    void resumeLater() {
        context().executor().execute(this::resume);
    }

    /** Copies an item that a get found, with the lock of its key held. */
    @Override
    public void visit(MemorySegment memory, long item) {
        TextRequest request = decoder.request();
        int valueLength = ItemDescriptor.valueLength(memory, item);
        int lineLength = TextProtocol.valueLine(
                scratch,
                request.bytes(),
                request.keyOffset(nextKey),
                request.keyLength(nextKey),
                ItemDescriptor.flags(memory, item),
                valueLength,
                request.command() == TextCommand.GETS,
                ItemDescriptor.cas(memory, item));
        ByteBuf out = output(lineLength + valueLength + TextProtocol.CRLF.length);
        out.writeBytes(scratch, 0, lineLength);
        if (valueLength > 0) {
            ByteBuffer target = out.internalNioBuffer(out.writerIndex(), valueLength);
            MemorySegment.copy(
                    memory, ItemDescriptor.valueOffset(memory, item), MemorySegment.ofBuffer(target), 0, valueLength);
            out.writerIndex(out.writerIndex() + valueLength);
        }
        out.writeBytes(TextProtocol.CRLF);
    }

    private void resume() {
        if (suspended && !closing) {
            suspended = false;
            process();
            if (!suspended) {
                context().channel().config().setAutoRead(true);
            }
            flush();
        }
    }

    private void suspend() {
        suspended = true;
        context().channel().config().setAutoRead(false);
    }

    /** Runs requests until there is no input, no room for output, or the connection is closed. */
    private void process() {
        if (processing) {
            return; // writing may make the channel writable again, which resumes
        }
        processing = true;
        try {
            while (!suspended && !closing) {
                if (unfinished) {
                    unfinished = false;
                    execute(decoder.request());
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
        while (more && !suspended && !closing) {
            switch (decoder.next(bytes)) {
                case NEED_INPUT -> more = false;
                case REQUEST -> begin(decoder.request());
                case VALUE -> endValue();
                case LINE_TOO_LONG -> closeAfterOutput();
            }
        }
        input.skipBytes(bytes.position() - start);
        if (!more && !closing) {
            backlog.remove().release();
        }
    }

    private void begin(TextRequest request) {
        nextKey = 0;
        execute(request);
    }

    private void execute(TextRequest request) {
        switch (request.command()) {
            case GET, GETS -> get(request);
            case SET -> set(request);
            case DELETE -> delete(request);
            case VERSION -> reply(server.versionLine());
            case STATS -> stats(request);
            case QUIT, CLOSE -> closeAfterOutput();
            case RDMA_HELLO -> hello(request);
            case RDMA_ARENAS -> reply(server.arenaLines());
            case RGET -> rget(request);
            case INVALID -> {
                if (!request.noreply()) {
                    reply(request.error());
                }
            }
        }
    }

    private void get(TextRequest request) {
        long nowSeconds = server.nowSeconds();
        for (; nextKey < request.keyCount(); nextKey++) {
            if (!hasRoom()) {
                unfinished = true;
                return;
            }
            boolean found = server.store()
                    .get(request.bytes(), request.keyOffset(nextKey), request.keyLength(nextKey), nowSeconds, this);
            (found ? counters.getHits : counters.getMisses).increment();
        }
        reply(TextProtocol.END);
    }

    private void set(TextRequest request) {
        counters.sets.increment();
        long nowSeconds = server.nowSeconds();
        int keyOffset = request.keyOffset(0);
        int keyLength = request.keyLength(0);
        NewItem item = reserve(request, keyOffset, keyLength, nowSeconds);
        fillingNoreply = request.noreply();
        if (item.status() == NewItem.Status.READY) {
            filling = item;
            decoder.expectValue(item.memory(), item.valueOffset(), item.valueLength());
            return;
        }
        decoder.expectValue(null, 0, request.valueLength());
        // Like memcached: a set that failed must not leave the older value behind.
        server.store().delete(request.bytes(), keyOffset, keyLength, nowSeconds);
        if (item.status() == NewItem.Status.OUT_OF_MEMORY) {
            counters.outOfMemory.increment();
            reply(TextProtocol.OUT_OF_MEMORY); // even after noreply, like memcached
        } else {
            counters.tooLarge.increment();
            if (!request.noreply()) {
                reply(TextProtocol.TOO_LARGE);
            }
        }
    }

    private NewItem reserve(TextRequest request, int keyOffset, int keyLength, long nowSeconds) {
        try {
            return server.store()
                    .reserve(
                            request.bytes(),
                            keyOffset,
                            keyLength,
                            request.flags(),
                            Expiry.toAbsolute(request.exptime(), nowSeconds),
                            request.valueLength());
        } catch (VerbsException e) {
            LOG.error("the device gives no further arena: {}", e.getMessage());
            return NewItem.outOfMemory();
        }
    }

    private void endValue() {
        NewItem item = filling;
        filling = null;
        if (item == null) {
            return; // it was skipped and is answered
        }
        if (!decoder.isValueTerminated()) {
            server.store().abandon(item);
            if (!fillingNoreply) {
                reply(TextProtocol.BAD_DATA_CHUNK);
            }
            return;
        }
        Locator locator = server.store().publish(item);
        if (fillingNoreply) {
            return;
        }
        if (withLocators) {
            reply(TextProtocol.STORED_AT);
            reply(locator.toHex().getBytes(StandardCharsets.US_ASCII));
            reply(TextProtocol.CRLF);
        } else {
            reply(TextProtocol.STORED);
        }
    }

    private void delete(TextRequest request) {
        boolean deleted =
                server.store().delete(request.bytes(), request.keyOffset(0), request.keyLength(0), server.nowSeconds());
        (deleted ? counters.deleteHits : counters.deleteMisses).increment();
        if (!request.noreply()) {
            reply(deleted ? TextProtocol.DELETED : TextProtocol.NOT_FOUND);
        }
    }

    private void stats(TextRequest request) {
        switch (request.argument(1)) {
            case "" -> reply(server.statistics().general());
            case "rdma" -> reply(server.statistics().rdma());
            default -> reply(TextProtocol.ERROR);
        }
    }

    private void hello(TextRequest request) {
        if (!request.argument(2).equals(Integer.toString(HelloDescriptor.VERSION))) {
            reply(UNKNOWN_VERSION);
            return;
        }
        forgetToken();
        RdmaSession old = session;
        if (old != null) {
            old.disconnect();
        }
        String fresh = server.rdmaPort().newToken(this);
        token = fresh;
        withLocators = true;
        reply(server.helloLine(fresh));
    }

    private void rget(TextRequest request) {
        RdmaSession bound = session;
        if (bound == null) {
            reply(CLOSED_QUEUE_PAIR);
            return;
        }
        long nowSeconds = server.nowSeconds();
        PinnedItem item = server.store().pin(request.bytes(), request.keyOffset(0), request.keyLength(0), nowSeconds);
        RdmaSession.AnswerStatus status = bound.answer(
                this, item, request.rkey(), request.address(), request.length(), request.opaque(), nowSeconds);
        if (status == RdmaSession.AnswerStatus.POSTED) {
            (item.isPresent() ? counters.rgetHits : counters.rgetMisses).increment();
            return;
        }
        if (item.isPresent()) {
            server.store().unpin(item);
        }
        if (status == RdmaSession.AnswerStatus.FULL) {
            unfinished = true;
            suspend();
        } else {
            reply(CLOSED_QUEUE_PAIR);
        }
    }

    /** True if more may be written; otherwise the connection is suspended until it may. */
    private boolean hasRoom() {
        if (context().channel().isWritable()) {
            return true;
        }
        flush();
        if (context().channel().isWritable()) {
            return true;
        }
        suspend();
        return false;
    }

    private void reply(byte[] bytes) {
        output(bytes.length).writeBytes(bytes);
        if (!context().channel().isWritable()) {
            hasRoom();
        }
    }

    /** The buffer for output, with room for this many bytes. */
    private ByteBuf output(int length) {
        ByteBuf out = output;
        if (out != null && out.writableBytes() < length) {
            output = null;
            context().write(out);
            out = null;
        }
        if (out == null) {
            out = context().alloc().directBuffer(Math.max(length, OUTPUT_BUFFER_LENGTH));
            output = out;
        }
        return out;
    }

    private void flush() {
        ByteBuf out = output;
        output = null;
        if (out != null) {
            context().writeAndFlush(out);
        } else {
            context().flush();
        }
    }

    private void closeAfterOutput() {
        closing = true;
        ByteBuf out = output(0);
        output = null;
        context().writeAndFlush(out).addListener(ChannelFutureListener.CLOSE);
    }

    /** Gives back what the connection holds. */
    private void release() {
        closing = true;
        if (filling != null) {
            server.store().abandon(filling);
            filling = null;
        }
        if (output != null) {
            output.release();
            output = null;
        }
        while (!backlog.isEmpty()) {
            backlog.remove().release();
        }
        forgetToken();
        RdmaSession bound = session;
        if (bound != null) {
            bound.disconnect();
        }
    }

    private void forgetToken() {
        if (token != null) {
            server.rdmaPort().forget(token);
            token = null;
        }
    }

    private ChannelHandlerContext context() {
        if (context == null) {
            throw new IllegalStateException("not in a pipeline");
        }
        return context;
    }
}
