package org.softrdma.kv.server;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundBuffer;
import java.net.SocketAddress;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A connection of Netty's: hands what comes in to the requests, and takes what they answer. Owned by the event loop thread of
 * its channel.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a failed write closes the channel, and that is where it is handled
final class NettyConnection extends ChannelInboundHandlerAdapter implements ClientChannel {
    private final Function<? super ClientChannel, ? extends ClientHandler> requests;
    private @Nullable ClientHandler connection;
    private volatile @Nullable ChannelHandlerContext context;

    /** What was written last, until it is sent. */
    private @Nullable ChannelFuture last;

    /**
     * Not in a pipeline yet.
     *
     * @param requests makes what runs them
     */
    NettyConnection(Function<? super ClientChannel, ? extends ClientHandler> requests) {
        this.requests = requests;
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
        connection().release();
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        connection().received((ByteBuf) message);
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        connection().receivedAll();
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        if (ctx.channel().isWritable()) {
            connection().writable();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        connection().failed(cause);
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

    @Override
    public void reading(boolean on) {
        context().channel().config().setAutoRead(on);
    }

    @Override
    public ByteBuf buffer(int length) {
        return context().alloc().directBuffer(length);
    }

    @Override
    public boolean isWritable() {
        return context().channel().isWritable();
    }

    @Override
    public void write(ByteBuf bytes) {
        last = context().write(bytes);
    }

    @Override
    public void write(ByteBuf bytes, Runnable done) {
        last = context().write(bytes).addListener(_ -> done.run());
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
