package org.softrdma.kv.server.session;

import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A protocol, chosen by the first byte of a connection: decodes requests and dispatches them. Owned by the thread of the
 * connection, unless a method says otherwise.
 */
interface ProtocolCodec {
    /** What a step has done. */
    enum Step {
        /** Nothing: all bytes are used up. */
        NEED_INPUT,
        /** A request was carried out, or its value is expected. */
        REQUEST,
        /** Something else. */
        OTHER
    }

    /**
     * Goes one step further in what came.
     *
     * @param input its position moves
     */
    Step next(ByteBuffer input);

    /**
     * Says where the value behind the present request goes; called while that is carried out.
     *
     * @param taker takes all bytes of each buffer that it gets, piece by piece as they come; null to skip them
     * @param length bytes of the value, in a protocol whose requests may lie about it
     */
    void expectValue(@Nullable Consumer<ByteBuffer> taker, int length);

    /** True while the value that was expected has not all come. Any thread, for what it is worth then. */
    boolean expectsValue();

    /** True if some of the next request has come, or its value has not all come. */
    boolean isWithinRequest();

    /** Gives back what the requests hold. */
    void release();
}
