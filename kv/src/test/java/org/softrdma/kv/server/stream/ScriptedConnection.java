package org.softrdma.kv.server.stream;

import io.netty.buffer.ByteBufAllocator;
import java.io.IOException;
import java.util.function.Function;
import org.softrdma.kv.server.host.ClientChannel;
import org.softrdma.kv.server.host.ClientHandler;
import org.softrdma.kv.server.host.InputBudget;

/** A client's connection whose network a test plays. One thread. */
public final class ScriptedConnection implements AutoCloseable {
    private static final long BUFFER_BYTES = 8 << 20;

    private final ScriptedLoop loop = new ScriptedLoop();
    private final LoopBuffers buffers;
    private final StreamChannel channel;

    /**
     * Connects.
     *
     * @param memory of buffers
     * @param clients makes what runs the requests
     */
    public ScriptedConnection(ByteBufAllocator memory, Function<ClientChannel, ClientHandler> clients)
            throws IOException {
        buffers = new LoopBuffers(memory, new InputBudget(BUFFER_BYTES), BUFFER_BYTES);
        channel = new StreamChannel(loop, buffers, clients, gone -> {});
        channel.adopt(() -> {}, null);
    }

    /** What the client sends next, to be received at once. */
    public void comes(String bytes) {
        loop.socket().comes(bytes);
    }

    /** How many bytes the network takes from now on. */
    public void room(long bytes) {
        loop.socket().room = bytes;
    }

    /** A turn of the loop; returns what the socket was asked, in order. */
    public String turn() {
        return loop.turn(true);
    }

    /** What the client got. */
    public String output() {
        return loop.socket().output();
    }

    @Override
    public void close() {
        channel.close();
        String ignored = turn();
        buffers.close();
    }
}
