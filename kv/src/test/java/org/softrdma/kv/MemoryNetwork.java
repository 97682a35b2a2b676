package org.softrdma.kv;

import java.io.ByteArrayOutputStream;
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
import org.softrdma.kv.client.network.ClientNetwork;
import org.softrdma.kv.client.network.ClientStream;
import org.softrdma.kv.server.host.ClientChannel;
import org.softrdma.kv.server.host.ClientHandler;
import org.softrdma.kv.server.host.PortSettings;
import org.softrdma.kv.server.host.ServerNetwork;
import org.softrdma.kv.server.host.ServerPort;

/**
 * A network without sockets and threads: what the server has to do waits until a client waits, and is done there one step at a
 * time; when there is nothing to do, time passes. One thread.
 */
final class MemoryNetwork implements ServerNetwork, NanoClock, Supplier<ClientNetwork> {
    private static final InetSocketAddress ADDRESS = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);

    /** A server that always has something to do must not keep a client from its turn. */
    private static final int MOST_STEPS = 1000;

    private final ArrayDeque<Runnable> steps = new ArrayDeque<>();
    private Function<? super ClientChannel, ? extends ClientHandler> clients = channel -> {
        throw new IllegalStateException("nobody listens");
    };

    /** Read by threads of the server. */
    private final AtomicLong nowNs = new AtomicLong(1_000_000_000_000L);

    private final SteppedThreads agents = new SteppedThreads();
    private boolean stopped;

    /** For a server whose agents are to do their work here as well. */
    SteppedThreads agents() {
        return agents;
    }

    /** The server does one thing; false if there is nothing to do. */
    private boolean step() {
        if (stopped) {
            return false;
        }
        Runnable next = steps.poll();
        if (next == null) {
            return agents.step() > 0;
        }
        next.run();
        return true;
    }

    /** The server does everything that there is to do now; false if that is nothing. */
    boolean stepAll() {
        boolean stepped = false;
        for (int left = MOST_STEPS; left > 0 && step(); left--) {
            stepped = true;
        }
        return stepped;
    }

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
            public void stopAccepting() {
                clients = channel -> {
                    throw new IllegalStateException("nobody listens any more");
                };
            }

            @Override
            public void close() {
                steps.clear();
            }
        };
    }

    @Override
    public long bufferBytes() {
        return Long.MAX_VALUE;
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
        private final ByteArrayOutputStream unsent = new ByteArrayOutputStream();
        private final ArrayDeque<ByteBuffer> toClient = new ArrayDeque<>();
        private ByteBuffer filling = ByteBuffer.allocate(0);
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
            int before = target.remaining();
            while (target.hasRemaining() && !toClient.isEmpty()) {
                ByteBuffer next = toClient.element();
                int length = Math.min(target.remaining(), next.remaining());
                target.put(next.slice(next.position(), length));
                next.position(next.position() + length);
                if (!next.hasRemaining()) {
                    toClient.remove();
                }
            }
            return before - target.remaining();
        }

        @Override
        public void write(ByteBuffer source) {
            ByteBuffer bytes =
                    ByteBuffer.allocate(source.remaining()).put(source).flip();
            execute(() -> {
                handler.received(bytes);
                handler.receivedAll();
            });
        }

        @Override
        public boolean await(long timeoutNs, boolean orRoom) {
            boolean stepped = true;
            while (stepped && toClient.isEmpty()) {
                stepped = step();
            }
            if (toClient.isEmpty()) {
                pass(timeoutNs);
            }
            return !toClient.isEmpty();
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
        public void releaseInput() {}

        @Override
        public ByteBuffer buffer(int length) {
            filling = ByteBuffer.allocateDirect(length);
            return filling;
        }

        @Override
        public void sendBuffer() {
            take(filling.flip());
        }

        @Override
        public void dropBuffer() {}

        private void take(ByteBuffer bytes) {
            byte[] taken = new byte[bytes.remaining()];
            bytes.get(taken);
            unsent.writeBytes(taken);
        }

        @Override
        public boolean isWritable() {
            return true;
        }

        @Override
        public void send(ByteBuffer bytes, Runnable done) {
            take(bytes);
            done.run();
        }

        @Override
        public void flush() {
            if (unsent.size() > 0) {
                toClient.add(ByteBuffer.wrap(unsent.toByteArray()));
                unsent.reset();
            }
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
