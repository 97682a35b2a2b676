package org.softrdma.kv.client.network;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** TCP, with TLS or in the clear, and a selector to wait on. */
public final class SocketNetwork implements ClientNetwork {
    private final Selector selector;
    private final @Nullable ClientTls tls;

    /** TCP in the clear. */
    public SocketNetwork() {
        this(null);
    }

    /**
     * TCP.
     *
     * @param tls encrypts it; null for none
     */
    public SocketNetwork(@Nullable ClientTls tls) {
        this.tls = tls;
        try {
            selector = Selector.open();
        } catch (IOException e) {
            throw new UncheckedIOException("no selector: " + e.getMessage(), e);
        }
    }

    @Override
    public ClientStream open(InetSocketAddress server) throws IOException {
        SocketChannel channel = SocketChannel.open();
        try {
            channel.configureBlocking(false);
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            SelectionKey key = channel.register(selector, SelectionKey.OP_CONNECT);
            TlsBytes encrypted = tls == null ? null : new TlsBytes(channel, tls.engine(server));
            return new SocketStream(channel, key, encrypted, channel.connect(server));
        } catch (IOException | RuntimeException e) {
            close(channel);
            throw e;
        }
    }

    @Override
    public void pause(long timeoutNs) throws IOException {
        select(timeoutNs);
    }

    @Override
    public void wakeUp() {
        selector.wakeup();
    }

    private boolean select(long timeoutNs) throws IOException {
        boolean ready = selector.select(TimeUnit.NANOSECONDS.toMillis(timeoutNs) + 1) > 0;
        selector.selectedKeys().clear();
        return ready;
    }

    /** A closed channel leaves its selector, and its socket, with the next selection. */
    private void close(SocketChannel channel) throws IOException {
        channel.close();
        selector.selectNow();
    }

    @Override
    public void close() {
        try {
            selector.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private final class SocketStream implements ClientStream {
        private final SocketChannel channel;
        private final SelectionKey key;
        private final @Nullable TlsBytes encrypted;
        private boolean connected;

        SocketStream(SocketChannel channel, SelectionKey key, @Nullable TlsBytes encrypted, boolean connected) {
            this.channel = channel;
            this.key = key;
            this.encrypted = encrypted;
            this.connected = connected;
        }

        @Override
        public boolean finishConnect() throws IOException {
            connected = connected || channel.finishConnect();
            if (!connected) {
                return false;
            }
            if (Objects.equals(channel.getLocalAddress(), channel.getRemoteAddress())) {
                // Simultaneous open (RFC 9293 section 3.5): the kernel chose the very port that nobody listens on.
                throw new IOException("nobody listens there");
            }
            key.interestOps(SelectionKey.OP_READ);
            return encrypted == null || encrypted.finishHandshake();
        }

        @Override
        public int read(ByteBuffer target) throws IOException {
            return encrypted == null ? channel.read(target) : encrypted.read(target);
        }

        @Override
        public void write(ByteBuffer source) throws IOException {
            if (encrypted == null) {
                channel.write(source);
            } else {
                encrypted.write(source);
            }
        }

        @Override
        public boolean await(long timeoutNs, boolean orRoom) throws IOException {
            if (encrypted != null && encrypted.mayHoldMore()) {
                return true;
            }
            if (connected) {
                boolean forRoom = orRoom || (encrypted != null && encrypted.wantsRoom());
                key.interestOps(forRoom ? SelectionKey.OP_READ | SelectionKey.OP_WRITE : SelectionKey.OP_READ);
            }
            boolean ready = select(timeoutNs);
            if (encrypted != null && ready) {
                encrypted.flush();
            }
            return ready;
        }

        @Override
        public void close() throws IOException {
            try {
                if (encrypted != null) {
                    encrypted.close();
                }
            } finally {
                SocketNetwork.this.close(channel);
            }
        }
    }
}
