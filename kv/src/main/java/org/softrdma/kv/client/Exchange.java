package org.softrdma.kv.client;

import org.jspecify.annotations.Nullable;

/**
 * What waits for an answer on a memcached connection, where answers come in the order of the requests. It stays there
 * until the answer has come even if nobody waits for that any more. Owned by the thread of its client.
 */
abstract class Exchange {
    /** What an answer needs next. */
    enum Next {
        /** Another line. */
        LINE,
        /** {@link #valueLength()} bytes and a line end. */
        VALUE,
        /** Nothing, it is complete. */
        NOTHING
    }

    private final @Nullable Pending request;
    private boolean behindNoreply;

    /** One that belongs to a request, or to the connection itself. */
    Exchange(@Nullable Pending request) {
        this.request = request;
    }

    /**
     * Takes a line of the answer.
     *
     * @param line without its end
     * @throws KvException if it is not in the protocol: the connection is of no use any more
     */
    abstract Next line(String line);

    /** Bytes of the value that {@link #line} announced. */
    int valueLength() {
        return 0;
    }

    /** Takes the value that was announced. */
    void value(byte[] value) {
        throw new IllegalStateException("no value was announced: " + value.length + " bytes");
    }

    @Nullable
    Pending request() {
        return request;
    }

    /** There are requests without an answer just before this one. */
    void setBehindNoreply(boolean there) {
        behindNoreply = there;
    }

    boolean isBehindNoreply() {
        return behindNoreply;
    }

    /** True of the three forms in which memcached says that it did not do what it was asked. */
    static boolean isError(String line) {
        return line.equals("ERROR") || line.startsWith("CLIENT_ERROR") || line.startsWith("SERVER_ERROR");
    }
}
