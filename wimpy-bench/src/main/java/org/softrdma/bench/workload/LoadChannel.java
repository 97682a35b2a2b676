package org.softrdma.bench.workload;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import tlschannel.ClientTlsChannel;
import tlschannel.TlsChannel;
import tlschannel.WouldBlockException;

/** One connection of a load, plain or in TLS. Waits while it connects and never after. */
public final class LoadChannel implements Closeable {
    private final SocketChannel socket;
    private final @Nullable TlsChannel tls;

    /**
     * Connects.
     *
     * @param address the server
     * @param timeoutMs how long to wait for the server's host
     * @param context whom to trust; null for a connection without TLS
     * @throws IOException if nobody answers there
     */
    public LoadChannel(InetSocketAddress address, int timeoutMs, @Nullable SSLContext context) throws IOException {
        socket = SocketChannel.open();
        try {
            socket.socket().connect(address, timeoutMs);
            socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
            if (context == null) {
                tls = null;
            } else {
                tls = ClientTlsChannel.newBuilder(socket, context).build();
                tls.handshake();
            }
            socket.configureBlocking(false);
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    /**
     * Has a selector tell when there is something to read.
     *
     * @param selector of the load
     * @param attachment of the key
     */
    public SelectionKey register(Selector selector, Object attachment) throws IOException {
        return socket.register(selector, SelectionKey.OP_READ, attachment);
    }

    /** True if {@link #read} may have bytes that no selector tells of: call it until it has none. */
    boolean mayHoldMore() {
        return tls != null;
    }

    /**
     * Reads what is there.
     *
     * @param input gets it
     * @return the number of bytes, which may be 0; -1 if the server closed the connection
     */
    public int read(ByteBuffer input) throws IOException {
        if (tls == null) {
            return socket.read(input);
        }
        try {
            return tls.read(input);
        } catch (WouldBlockException e) {
            return 0;
        }
    }

    /**
     * Writes as much as the connection takes.
     *
     * @param output has it
     * @return true if nothing is left, in the buffer or on its way to the kernel
     */
    public boolean write(ByteBuffer output) throws IOException {
        if (tls == null) {
            socket.write(output);
        } else {
            try {
                tls.write(output);
            } catch (WouldBlockException e) {
                return false;
            }
        }
        return !output.hasRemaining();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
