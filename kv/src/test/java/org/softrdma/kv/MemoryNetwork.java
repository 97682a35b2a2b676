package org.softrdma.kv;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.agrona.concurrent.NanoClock;
import org.softrdma.kv.client.ClientNetwork;
import org.softrdma.kv.client.ClientStream;
import org.softrdma.kv.server.ClientChannel;
import org.softrdma.kv.server.ClientHandler;
import org.softrdma.kv.server.PortSettings;
import org.softrdma.kv.server.ServerNetwork;
import org.softrdma.kv.server.ServerPort;

/**
 * A network without sockets and threads: what the server has to do waits until a client waits, and is done there one step at a
 * time; when there is nothing to do, time passes. One thread.
 */
final class MemoryNetwork implements ServerNetwork, NanoClock, Supplier<ClientNetwork> {
    private static final InetSocketAddress ADDRESS = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);

    private final ArrayDeque<Runnable> steps = new ArrayDeque<>();
    private Function<? super ClientChannel, ? extends ClientHandler> clients = channel -> {
        throw new IllegalStateException("nobody listens");
    };
    /** Read by threads of the server. */
    private final AtomicLong nowNs = new AtomicLong(1_000_000_000_000L);

    private boolean stopped;

    @Override
    public ServerPort listen(
            PortSettings settings,
            Function<? super ClientChannel, ? extends ClientHandler> handlers,
            Consumer<? super Throwable> failed) {
        clients = handlers;
        return new ServerPort() {
            @Override
            public SocketAddress localAddress() {
                return ADDRESS;
            }

            @Override
            public void close() {
                steps.clear();
            }
        };
    }

    /** From now on the server does nothing any more. */
    void stop() {
        stopped = true;
    }

    /** Time passes. */
    void pass(long timeNs) {
        nowNs.addAndGet(timeNs);
    }

    @Override
    public long nanoTime() {
        return nowNs.get();
    }

    @Override
    public ClientNetwork get() {
        return new ClientNetwork() {
            @Override
            public ClientStream open(InetSocketAddress server) {
                return new Link();
            }

            @Override
            public void pause(long timeoutNs) {
                pass(timeoutNs);
            }

            @Override
            public void wakeUp() {
                throw new IllegalStateException("there is one thread");
            }

            @Override
            public void close() {}
        };
    }

    /** Both ends of a connection. */
    private final class Link implements ClientStream, ClientChannel {
        private final ByteBuf unsent = Unpooled.buffer();
        private final ByteBuf toClient = Unpooled.buffer();
        private final ClientHandler handler = clients.apply(this);

        Link() {
            execute(handler::opened);
        }

        @Override
        public boolean finishConnect() {
            return true;
        }

        @Override
        public int read(ByteBuffer target) {
            int length = Math.min(target.remaining(), toClient.readableBytes());
            toClient.readBytes(target.limit(target.position() + length));
            toClient.discardReadBytes();
            return length;
        }

        @Override
        public void write(ByteBuffer source) {
            ByteBuf bytes = Unpooled.copiedBuffer(source);
            source.position(source.limit());
            execute(() -> {
                handler.received(bytes);
                handler.receivedAll();
            });
        }

        @Override
        public boolean await(long timeoutNs, boolean orRoom) {
            while (!toClient.isReadable() && !stopped && !steps.isEmpty()) {
                steps.remove().run();
            }
            if (!toClient.isReadable()) {
                pass(timeoutNs);
            }
            return toClient.isReadable();
        }

        @Override
        public SocketAddress localAddress() {
            return ADDRESS;
        }

        @Override
        public SocketAddress remoteAddress() {
            return ADDRESS;
        }

        @Override
        public void execute(Runnable task) {
            steps.add(task);
        }

        @Override
        public void reading(boolean on) {}

        @Override
        public ByteBuf buffer(int length) {
            return Unpooled.directBuffer(length);
        }

        @Override
        public boolean isWritable() {
            return true;
        }

        @Override
        public void write(ByteBuf bytes) {
            unsent.writeBytes(bytes);
            bytes.release();
        }

        @Override
        public void write(ByteBuf bytes, Runnable done) {
            write(bytes);
            done.run();
        }

        @Override
        public void flush() {
            toClient.writeBytes(unsent);
            unsent.clear();
        }

        @Override
        public boolean isSent() {
            return true;
        }

        @Override
        public void whenSent(Runnable task) {
            task.run();
        }

        @Override
        public long pendingBytes() {
            return 0;
        }

        @Override
        public void close() {
            handler.ended();
            handler.release();
        }
    }
}
