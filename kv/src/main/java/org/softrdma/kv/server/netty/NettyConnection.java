package org.softrdma.kv.server.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.util.internal.OutOfDirectMemoryError;
import java.io.IOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.server.host.ClientChannel;
import org.softrdma.kv.server.host.ClientHandler;
import org.softrdma.kv.server.host.InputBudget;
import org.softrdma.kv.server.host.OutOfBuffersException;

/**
 * A connection of Netty's: hands what comes in to the requests, and takes what they answer. Owned by the event loop
 * thread of its channel.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a failed write closes the channel, and that is where it is handled
public final class NettyConnection extends ChannelInboundHandlerAdapter implements ClientChannel {
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final Function<? super ClientChannel, ? extends ClientHandler> requests;
    private final InputBudget inputBudget;
    private @Nullable ClientHandler connection;
    private volatile @Nullable ChannelHandlerContext context;

    /** Input that the handler holds, oldest first. */
    private final ArrayDeque<ByteBuf> inputs = new ArrayDeque<>();

    /** What is being handed to the handler: it counts as waiting only if the handler keeps it. */
    private @Nullable ByteBuf arriving;

    /** The buffer that the handler fills, and the view of it that the handler has. */
    private @Nullable ByteBuf filling;

    private ByteBuffer view = NOTHING;

    /** Where the view began. */
    private int viewStart;

    /** What was written last, until it is sent. */
    private @Nullable ChannelFuture last;

    /**
     * Not in a pipeline yet.
     *
     * @param requests makes what runs them
     * @param inputBudget of all connections
     */
    public NettyConnection(Function<? super ClientChannel, ? extends ClientHandler> requests, InputBudget inputBudget) {
        this.requests = requests;
        this.inputBudget = inputBudget;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        context = ctx;
        connection = requests.apply(this);
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        connection().opened();
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        connection().ended();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        try {
            connection().release();
        } finally {
            dropBuffer();
            while (!inputs.isEmpty()) { // of a handler that has failed
                releaseInput();
            }
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        ByteBuf input = (ByteBuf) message;
        inputs.add(input);
        arriving = input;
        try {
            connection().received(input.internalNioBuffer(input.readerIndex(), input.readableBytes()));
        } finally {
            if (arriving != null) {
                inputBudget.waits(arriving.capacity());
                arriving = null;
            }
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        connection().receivedAll();
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event == ChannelInputShutdownEvent.INSTANCE || event instanceof SslCloseCompletionEvent) {
            connection().inputEnded();
        }
        ctx.fireUserEventTriggered(event);
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        if (ctx.channel().isWritable()) {
            connection().writable();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        // What TLS finds wrong with a client's bytes comes as a failure of a decoder.
        Throwable found =
                cause instanceof DecoderException && cause.getCause() instanceof IOException ? cause.getCause() : cause;
        connection().failed(found instanceof OutOfDirectMemoryError ? new OutOfBuffersException(found) : found);
    }

    @Override
    public @Nullable SocketAddress localAddress() {
        return context().channel().localAddress();
    }

    @Override
    public @Nullable SocketAddress remoteAddress() {
        return context().channel().remoteAddress();
    }

    @Override
    public void execute(Runnable task) {
        context().executor().execute(task);
    }

    /** Netty runs tasks until none is left, but a scheduled one only after it has looked at the sockets. */
    @Override
    public void nextTurn(Runnable task) {
        context().executor().schedule(task, 0, TimeUnit.NANOSECONDS);
    }

    @Override
    public void reading(boolean on) {
        context().channel().config().setAutoRead(on);
    }

    @Override
    public void releaseInput() {
        ByteBuf input = inputs.remove();
        if (input == arriving) {
            arriving = null;
        } else {
            inputBudget.ended(input.capacity());
        }
        input.release();
    }

    @Override
    public ByteBuffer buffer(int length) {
        if (filling != null) {
            throw new IllegalStateException("there is a buffer that was neither sent nor dropped");
        }
        ByteBuf made;
        try {
            made = context().alloc().directBuffer(length);
        } catch (OutOfDirectMemoryError e) {
            throw new OutOfBuffersException(e);
        }
        filling = made;
        view = made.internalNioBuffer(0, made.capacity());
        viewStart = view.position();
        return view;
    }

    @Override
    public void sendBuffer() {
        ByteBuf bytes = filling;
        if (bytes == null) {
            throw new IllegalStateException("there is no buffer to send");
        }
        filling = null;
        last = context().write(bytes.writerIndex(view.position() - viewStart));
    }

    @Override
    public void dropBuffer() {
        ByteBuf bytes = filling;
        if (bytes != null) {
            filling = null;
            bytes.release();
        }
    }

    @Override
    public boolean isWritable() {
        return context().channel().isWritable();
    }

    @Override
    public void send(ByteBuffer bytes, Runnable done) {
        last = context().write(Unpooled.wrappedBuffer(bytes)).addListener(_ -> done.run());
    }

    @Override
    public void flush() {
        context().flush();
        ChannelFuture written = last;
        if (written != null && written.isDone()) {
            last = null;
        }
    }

    @Override
    public boolean isSent() {
        ChannelFuture written = last;
        return written == null || written.isDone();
    }

    @Override
    public void whenSent(Runnable task) {
        ChannelFuture written = last;
        if (written == null) {
            task.run();
        } else {
            written.addListener(_ -> task.run());
        }
    }

    @Override
    public long pendingBytes() {
        ChannelOutboundBuffer waiting = context().channel().unsafe().outboundBuffer();
        return waiting == null ? -1 : waiting.totalPendingWriteBytes();
    }

    @Override
    public void close() {
        context().close();
    }

    private ClientHandler connection() {
        ClientHandler made = connection;
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
