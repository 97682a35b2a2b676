package org.softrdma.bench.message;

import java.nio.ByteBuffer;
import java.util.Optional;
import org.softrdma.verbs.RemoteRegion;

/**
 * What a {@link SendLoad} or a {@link PolledLoad} asks of an {@link EchoResponder}, in the private data of the connection request.
 *
 * <pre>
 *   big endian, the load writes it
 *    0  requests outstanding (4)     4  bytes of a request (8)    12  bytes of an answer (8), 0: as many, the same ones
 *   20  region for answers: address (8), length (8), rkey (4); length 0: answers are SENDs
 * </pre>
 *
 * @param window most requests that wait for their answer
 * @param size most bytes of a request
 * @param answer bytes of an answer; {@link #SAME} if a request's own bytes come back
 * @param answers where a WRITE answers; empty if a SEND does
 */
record EchoTerms(int window, long size, long answer, Optional<RemoteRegion> answers) {
    /** Instead of a size: the answer is the request. */
    static final long SAME = 0;

    private static final int MOST_WINDOW = 1 << 12;
    private static final int REGION_LENGTH = 2 * Long.BYTES + Integer.BYTES;
    private static final int LENGTH = Integer.BYTES + 2 * Long.BYTES + REGION_LENGTH;
    private static final RemoteRegion NONE = new RemoteRegion(0, 0, 0);

    /** Checks the numbers. */
    EchoTerms {
        if (window < 1
                || window > MOST_WINDOW
                || size < 1
                || size > Integer.MAX_VALUE
                || answer < 0
                || answer > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("window=" + window + ", size=" + size + ", answer=" + answer
                    + ": expected 1 to " + MOST_WINDOW + ", 1 to " + Integer.MAX_VALUE + ", 0 to " + Integer.MAX_VALUE);
        }
        if (answers.isPresent()
                && (answer < Long.BYTES
                        || answer % Long.BYTES != 0
                        || answers.get().length() / answer < window)) {
            throw new IllegalArgumentException("answer=" + answer + ", region of "
                    + answers.get().length() + " bytes for answers: expected a multiple of " + Long.BYTES
                    + ", and room for " + window);
        }
    }

    byte[] encode() {
        ByteBuffer buffer =
                ByteBuffer.allocate(LENGTH).putInt(window).putLong(size).putLong(answer);
        put(buffer, answers.orElse(NONE));
        return buffer.array();
    }

    /**
     * Reads them.
     *
     * @param data private data, perhaps with padding behind it
     * @throws IllegalArgumentException if they are not there or make no sense
     */
    static EchoTerms decode(byte[] data) {
        ByteBuffer buffer = buffer(data, LENGTH);
        int window = buffer.getInt();
        long size = buffer.getLong();
        long answer = buffer.getLong();
        return new EchoTerms(window, size, answer, Optional.of(region(buffer)).filter(region -> region.length() != 0));
    }

    /** A region alone, as a responder tells where requests are to be written. */
    static byte[] encode(RemoteRegion region) {
        ByteBuffer buffer = ByteBuffer.allocate(REGION_LENGTH);
        put(buffer, region);
        return buffer.array();
    }

    /**
     * Reads it.
     *
     * @param data private data, perhaps with padding behind it
     * @throws IllegalArgumentException if it is not there
     */
    static RemoteRegion decodeRegion(byte[] data) {
        return region(buffer(data, REGION_LENGTH));
    }

    private static ByteBuffer buffer(byte[] data, int length) {
        if (data.length < length) {
            throw new IllegalArgumentException(data.length + " bytes of private data: expected " + length);
        }
        return ByteBuffer.wrap(data);
    }

    private static void put(ByteBuffer buffer, RemoteRegion region) {
        buffer.putLong(region.address()).putLong(region.length()).putInt(region.rkey());
    }

    private static RemoteRegion region(ByteBuffer buffer) {
        return new RemoteRegion(buffer.getLong(), buffer.getLong(), buffer.getInt());
    }
}
