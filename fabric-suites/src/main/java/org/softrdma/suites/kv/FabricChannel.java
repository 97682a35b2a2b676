package org.softrdma.suites.kv;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.softrdma.fabric.baton.Unwinding;
import org.softrdma.kv.server.host.ClientChannel;
import org.softrdma.kv.server.host.ClientHandler;
import org.softrdma.sim.memory.MemoryOperations;
import org.softrdma.sim.transport.EventLoop;
import org.softrdma.sim.transport.SocketEvents;
import org.softrdma.sim.transport.StreamSocket;

/** A memcached client's connection at the server. The thread of its event loop. */
final class FabricChannel implements ClientChannel, SocketEvents {
    /** Bytes that are taken from the network at once. */
    private static final int INPUT_BYTES = 2048;

    private final EventLoop loop;
    private final ClientHandler handler;
    private final Consumer<FabricChannel> gone;
    private final MemorySegment input = new MemoryOperations().allocate(INPUT_BYTES, Long.BYTES);
    private final ChannelOutput output = new ChannelOutput();
    private final List<Runnable> whenSent = new ArrayList<>();
    private @Nullable StreamSocket socket;
    private @Nullable ByteBuffer filling;
    private boolean opened;
    private boolean reading = true;
    private boolean writable = true;
    private boolean sending;
    private boolean closed;

    FabricChannel(
            EventLoop loop,
            Function<? super ClientChannel, ? extends ClientHandler> clients,
            Consumer<FabricChannel> gone) {
        this.loop = loop;
        this.gone = gone;
        handler = clients.apply(this);
    }

    void adopt(EventLoop.PendingSocket pending) {
        try {
            socket = loop.adopt(pending, this);
        } catch (IOException e) {
            throw new IllegalStateException(e); // sockets of the fabric are adopted always
        }
    }

    private StreamSocket socket() {
        StreamSocket adopted = socket;
        if (adopted == null) {
            throw new IllegalStateException("not adopted yet");
        }
        return adopted;
    }

    // ---- the loop

    @Override
    public void ready(boolean mayWrite) {
        if (closed) {
            return;
        }
        try {
            if (!opened) {
                opened = true;
                handler.opened();
            }
            if (mayWrite) {
                send();
            }
            receive();
        } catch (Unwinding e) {
            throw e;
        } catch (IOException | RuntimeException | Error e) {
            handler.failed(e);
            close();
        }
    }

    private void receive() throws IOException {
        boolean any = false;
        while (reading && !closed) {
            int count = socket().receive(input.address(), INPUT_BYTES);
            if (count == 0) {
                break;
            }
            if (count < 0) {
                close();
                break;
            }
            byte[] bytes = new byte[count];
            input.asByteBuffer().get(bytes);
            any = true;
            handler.received(ByteBuffer.wrap(bytes));
        }
        if (any && !closed) {
            handler.receivedAll();
        }
    }

    /** Sends what was flushed, as much as there is room for. */
    private void send() throws IOException {
        if (sending) {
            return; // what is done with may flush something else
        }
        sending = true;
        try {
            if (!output.send(socket())) {
                socket().awaitRoom();
            }
            if (output.isEmpty()) {
                sent();
            }
        } finally {
            sending = false;
        }
        if (!writable && output.isLow()) {
            writable = true;
            handler.writable();
        }
    }

    private void sent() {
        List<Runnable> tasks = List.copyOf(whenSent);
        whenSent.clear();
        tasks.forEach(Runnable::run);
    }

    // ---- the handler

    @Override
    public SocketAddress localAddress() {
        return socket().localAddress();
    }

    @Override
    public SocketAddress remoteAddress() {
        return socket().remoteAddress();
    }

    @Override
    public void execute(Runnable task) {
        loop.execute(task);
    }

    @Override
    public void reading(boolean on) {
        reading = on;
        if (on && !closed) {
            socket().rearm();
        }
    }

    @Override
    public void releaseInput() {
        // The bytes were copied.
    }

    @Override
    public ByteBuffer buffer(int length) {
        ByteBuffer made = ByteBuffer.allocate(length);
        filling = made;
        return made;
    }

    @Override
    public void sendBuffer() {
        ByteBuffer filled = filling;
        if (filled == null) {
            throw new IllegalStateException("there is no buffer to send");
        }
        filling = null;
        add(filled.flip(), () -> {});
    }

    @Override
    public void dropBuffer() {
        filling = null;
    }

    @Override
    public void send(ByteBuffer bytes, Runnable done) {
        add(bytes, done);
    }

    private void add(ByteBuffer bytes, Runnable done) {
        if (closed) {
            done.run();
            return;
        }
        output.add(bytes, done);
        writable &= !output.isHigh();
    }

    @Override
    public boolean isWritable() {
        return writable;
    }

    @Override
    public void flush() {
        if (closed) {
            return;
        }
        output.flush();
        try {
            send();
        } catch (IOException e) {
            handler.failed(e);
            close();
        }
    }

    @Override
    public boolean isSent() {
        return output.isEmpty();
    }

    @Override
    public void whenSent(Runnable task) {
        if (output.isEmpty()) {
            task.run();
        } else {
            whenSent.add(task);
        }
    }

    @Override
    public long pendingBytes() {
        return closed ? -1 : output.bytes();
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        socket().close();
        output.drop();
        sent();
        loop.execute(this::end);
    }

    /** Tells the handler, later than what it does now. */
    private void end() {
        if (opened) {
            handler.ended();
        }
        handler.release();
        gone.accept(this);
    }
}
