package org.softrdma.kv.client;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.agrona.concurrent.NanoClock;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.client.network.ClientNetwork;
import org.softrdma.kv.client.network.ClientStream;

/**
 * The stream of a memcached connection with what waits to be sent and what was received. Nothing blocks but
 * connecting and {@link #await}, both with a limit. Owned by the thread of its client.
 */
final class MemcachedLink implements AutoCloseable {
    private static final int INPUT_LENGTH = 64 * 1024;
    private static final int OUTPUT_LENGTH = 64 * 1024;
    private static final int MAX_LINE_LENGTH = 4096;

    /** Between the words of a command. */
    static final byte[] BLANK = {(byte) ' '};

    private final String name;
    private final ClientStream stream;
    private final ByteBuffer input = ByteBuffer.allocateDirect(INPUT_LENGTH).flip();
    private final StringBuilder line = new StringBuilder();
    private boolean ready;
    /** A line has come; what closes before that may not speak this protocol. */
    private boolean answered;

    /** In the state of being filled. */
    private ByteBuffer output = ByteBuffer.allocateDirect(OUTPUT_LENGTH);

    /**
     * Connects.
     *
     * @param network of the client; outlives this
     * @param clock for the limit
     */
    MemcachedLink(InetSocketAddress server, ClientNetwork network, NanoClock clock, long timeoutNs) {
        this.name = server.getHostString() + ":" + server.getPort();
        try {
            stream = network.open(server);
        } catch (IOException e) {
            throw notConnected(e);
        }
        try {
            long deadlineNs = clock.nanoTime() + timeoutNs;
            while (!stream.finishConnect()) {
                long leftNs = deadlineNs - clock.nanoTime();
                if (leftNs <= 0) {
                    throw new KvTimeoutException("cannot connect to " + name + ": it did not answer in time");
                }
                ready = stream.await(leftNs, false);
                requireUninterrupted();
            }
        } catch (IOException e) {
            throw closeAfter(notConnected(e));
        } catch (RuntimeException e) {
            throw closeAfter(e);
        }
    }

    private KvException notConnected(IOException cause) {
        return new KvException("cannot connect to " + name + ": " + cause.getMessage(), cause);
    }

    /** The server, for messages. */
    String name() {
        return name;
    }

    /** Adds words to what is to be sent. */
    void write(String ascii) {
        write(ascii.getBytes(StandardCharsets.US_ASCII));
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
            stream.write(output);
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
            if (stream.read(input) < 0) {
                throw gone(
                        answered
                                ? "it closed the connection"
                                : "it closed the connection without an answer; does it require TLS (-Z: then"
                                        + " KvClientContext.tls, or --tls of kv), or speak the binary protocol only (-S"
                                        + " of memcached)?",
                        null);
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
                answered = true;
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
        try {
            ready = stream.await(timeoutNs, output.position() > 0);
        } catch (IOException e) {
            throw gone(e.getMessage(), e);
        }
        requireUninterrupted();
    }

    private void requireUninterrupted() {
        if (Thread.interrupted()) {
            Thread.currentThread().interrupt();
            throw new KvException("interrupted while waiting for " + name);
        }
    }

    private KvException gone(@Nullable String reason, @Nullable IOException cause) {
        return new KvException(name + " is gone: " + reason, cause);
    }

    private <E extends Exception> E closeAfter(E cause) {
        try {
            stream.close();
        } catch (IOException e) {
            cause.addSuppressed(e);
        }
        return cause;
    }

    @Override
    public void close() {
        try {
            stream.close();
        } catch (IOException e) {
            throw new KvException("cannot close the connection to " + name + ": " + e.getMessage(), e);
        }
    }
}
