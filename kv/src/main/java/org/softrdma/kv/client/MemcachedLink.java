package org.softrdma.kv.client;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.CloseStack;

/**
 * A memcached connection, one request at a time: send, read lines and values, all with a deadline. Never blocks for longer
 * and never without one. Owned by one thread.
 */
final class MemcachedLink implements AutoCloseable {
    private static final int INPUT_LENGTH = 64 * 1024;
    private static final int MAX_LINE_LENGTH = 4096;

    private final String name;
    private final CloseStack owned = new CloseStack();
    private final SocketChannel channel;
    private final Selector selector;
    private final SelectionKey key;
    private final ByteBuffer input = ByteBuffer.allocateDirect(INPUT_LENGTH).flip();
    private final StringBuilder line = new StringBuilder();

    /** Connects. */
    MemcachedLink(InetSocketAddress server, long timeoutNs) {
        name = server.getHostString() + ":" + server.getPort();
        try {
            channel = owned.add(SocketChannel.open());
            selector = owned.add(Selector.open());
            channel.configureBlocking(false);
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            key = channel.register(selector, SelectionKey.OP_CONNECT);
            long deadlineNs = System.nanoTime() + timeoutNs;
            boolean connected = channel.connect(server);
            while (!connected) {
                await(SelectionKey.OP_CONNECT, deadlineNs);
                connected = channel.finishConnect();
            }
        } catch (IOException e) {
            throw owned.closeAfter(new KvException("cannot connect to " + name + ": " + e.getMessage(), e));
        } catch (RuntimeException e) {
            throw owned.closeAfter(e);
        }
    }

    /** The server, for messages. */
    String name() {
        return name;
    }

    /** Sends bytes, all of them. */
    void send(ByteBuffer bytes, long deadlineNs) {
        try {
            while (bytes.hasRemaining()) {
                if (channel.write(bytes) == 0) {
                    await(SelectionKey.OP_WRITE, deadlineNs);
                }
            }
        } catch (IOException e) {
            throw gone(e.getMessage(), e);
        }
    }

    /** Reads a line, without its end. */
    String readLine(long deadlineNs) {
        line.setLength(0);
        while (true) {
            while (input.hasRemaining()) {
                byte next = input.get();
                if (next == '\n') {
                    int length = line.length();
                    return length > 0 && line.charAt(length - 1) == '\r'
                            ? line.substring(0, length - 1)
                            : line.toString();
                }
                if (line.length() == MAX_LINE_LENGTH) {
                    throw new KvException(name + " answered a line without an end");
                }
                line.append((char) Byte.toUnsignedInt(next));
            }
            fill(deadlineNs);
        }
    }

    /** Reads exactly so many bytes. */
    void readFully(byte[] target, long deadlineNs) {
        int at = 0;
        while (at < target.length) {
            if (!input.hasRemaining()) {
                fill(deadlineNs);
            }
            int length = Math.min(input.remaining(), target.length - at);
            input.get(target, at, length);
            at += length;
        }
    }

    /** True if the server has said something that was not read yet. Does not wait; notices that the server is gone. */
    boolean hasInput() {
        if (!input.hasRemaining()) {
            receive();
        }
        return input.hasRemaining();
    }

    private void fill(long deadlineNs) {
        while (!hasInput()) {
            try {
                await(SelectionKey.OP_READ, deadlineNs);
            } catch (IOException e) {
                throw gone(e.getMessage(), e);
            }
        }
    }

    private void receive() {
        input.clear();
        try {
            if (channel.read(input) < 0) {
                throw gone("it closed the connection", null);
            }
        } catch (IOException e) {
            throw gone(e.getMessage(), e);
        } finally {
            input.flip();
        }
    }

    private void await(int operation, long deadlineNs) throws IOException {
        long leftNs = deadlineNs - System.nanoTime();
        if (leftNs <= 0) {
            throw new KvException(name + " did not answer in time");
        }
        key.interestOps(operation);
        selector.select(TimeUnit.NANOSECONDS.toMillis(leftNs) + 1);
        selector.selectedKeys().clear();
        if (Thread.interrupted()) {
            Thread.currentThread().interrupt();
            throw new KvException("interrupted while waiting for " + name);
        }
    }

    private KvException gone(@Nullable String reason, @Nullable IOException cause) {
        return new KvException(name + " is gone: " + reason, cause);
    }

    /** For requests: ASCII bytes of a text. */
    static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    public void close() {
        owned.close();
    }
}
