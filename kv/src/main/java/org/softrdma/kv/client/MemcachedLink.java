package org.softrdma.kv.client;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.CloseStack;

/**
 * The socket of a memcached connection with what waits to be sent and what was received. Nothing blocks but connecting and
 * {@link #await}, both with a limit. Owned by the thread of its client.
 */
final class MemcachedLink implements AutoCloseable {
    private static final int INPUT_LENGTH = 64 * 1024;
    private static final int OUTPUT_LENGTH = 64 * 1024;
    private static final int MAX_LINE_LENGTH = 4096;

    private final String name;
    private final CloseStack owned = new CloseStack();
    private final SocketChannel channel;
    private final Selector selector;
    private final SelectionKey key;
    private final ByteBuffer input = ByteBuffer.allocateDirect(INPUT_LENGTH).flip();
    private final StringBuilder line = new StringBuilder();
    private boolean ready;

    /** In the state of being filled. */
    private ByteBuffer output = ByteBuffer.allocateDirect(OUTPUT_LENGTH);

    /**
     * Connects.
     *
     * @param selector of the client, for this link only; outlives it
     */
    MemcachedLink(InetSocketAddress server, Selector selector, long timeoutNs) {
        this.name = server.getHostString() + ":" + server.getPort();
        this.selector = selector;
        try {
            channel = owned.add(SocketChannel.open());
            channel.configureBlocking(false);
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            key = channel.register(selector, SelectionKey.OP_CONNECT);
            long deadlineNs = System.nanoTime() + timeoutNs;
            boolean connected = channel.connect(server);
            while (!connected) {
                long leftNs = deadlineNs - System.nanoTime();
                if (leftNs <= 0) {
                    throw new KvTimeoutException("cannot connect to " + name + ": it did not answer in time");
                }
                select(leftNs);
                connected = channel.finishConnect();
            }
            if (Objects.equals(channel.getLocalAddress(), channel.getRemoteAddress())) {
                // Simultaneous open (RFC 9293 section 3.5): the kernel chose the very port that nobody listens on.
                throw new KvException("cannot connect to " + name + ": nobody listens there");
            }
            key.interestOps(SelectionKey.OP_READ);
        } catch (IOException e) {
            throw closeAfter(new KvException("cannot connect to " + name + ": " + e.getMessage(), e));
        } catch (RuntimeException e) {
            throw closeAfter(e);
        }
    }

    /** The server, for messages. */
    String name() {
        return name;
    }

    /** Adds to what is to be sent. */
    void write(byte[] bytes) {
        if (output.remaining() < bytes.length) {
            int length = Math.max(2 * output.capacity(), output.position() + bytes.length);
            output = ByteBuffer.allocateDirect(length).put(output.flip());
        }
        output.put(bytes);
    }

    /** Bytes that wait to be sent. */
    int queued() {
        return output.position();
    }

    /** Sends what the socket takes. */
    void flush() {
        if (output.position() == 0) {
            return;
        }
        output.flip();
        try {
            channel.write(output);
        } catch (IOException e) {
            throw gone(e.getMessage(), e);
        } finally {
            output.compact();
        }
        if (output.position() == 0 && output.capacity() > OUTPUT_LENGTH) {
            output = ByteBuffer.allocateDirect(OUTPUT_LENGTH); // a long value is no reason to keep this for ever
        }
    }

    /** True if something that was received has not been taken. */
    boolean hasReceived() {
        return input.hasRemaining();
    }

    /** Receives what is there once everything received before was taken; false if there is nothing. */
    boolean receive() {
        if (input.hasRemaining()) {
            return true;
        }
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
        return input.hasRemaining();
    }

    /** True if the last wait ended because the socket had something. */
    boolean isReady() {
        return ready;
    }

    /** The next line without its end, or null if it has not been received yet. */
    @Nullable
    String line() {
        while (input.hasRemaining()) {
            byte next = input.get();
            if (next == '\n') {
                int length = line.length();
                String taken = line.substring(0, length > 0 && line.charAt(length - 1) == '\r' ? length - 1 : length);
                line.setLength(0);
                return taken;
            }
            if (line.length() == MAX_LINE_LENGTH) {
                throw new KvException(name + " answered a line without an end");
            }
            line.append((char) Byte.toUnsignedInt(next));
        }
        return null;
    }

    /** Copies what was received of a value; where the next byte goes. */
    int take(byte[] target, int from) {
        int length = Math.min(input.remaining(), target.length - from);
        input.get(target, from, length);
        return from + length;
    }

    /** Waits until there is something to receive, or room for what waits to be sent, or the selector is woken up. */
    void await(long timeoutNs) {
        key.interestOps(output.position() > 0 ? SelectionKey.OP_READ | SelectionKey.OP_WRITE : SelectionKey.OP_READ);
        try {
            select(timeoutNs);
        } catch (IOException e) {
            throw gone(e.getMessage(), e);
        }
    }

    private void select(long timeoutNs) throws IOException {
        ready = selector.select(TimeUnit.NANOSECONDS.toMillis(timeoutNs) + 1) > 0;
        selector.selectedKeys().clear();
        if (Thread.interrupted()) {
            Thread.currentThread().interrupt();
            throw new KvException("interrupted while waiting for " + name);
        }
    }

    private KvException gone(@Nullable String reason, @Nullable IOException cause) {
        return new KvException(name + " is gone: " + reason, cause);
    }

    private <E extends Exception> E closeAfter(E cause) {
        owned.closeAfter(cause);
        deregister();
        return cause;
    }

    /** A closed channel leaves its selector, and its socket, with the next selection. */
    private void deregister() {
        try {
            selector.selectNow();
        } catch (IOException e) {
            throw new KvException("cannot leave the selector: " + e.getMessage(), e);
        }
    }

    @Override
    public void close() {
        owned.close();
        deregister();
    }
}
