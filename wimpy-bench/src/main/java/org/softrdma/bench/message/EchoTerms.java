package org.softrdma.bench.message;

import java.nio.ByteBuffer;

/**
 * What a {@link SendLoad} asks of an {@link EchoResponder}, in the private data of the connection request.
 *
 * <pre>
 *   big endian, the load writes it
 *    0  SENDs outstanding (4)     4  bytes of a SEND (8)
 * </pre>
 *
 * @param window most SENDs that wait for their answer
 * @param size most bytes of a SEND
 */
record EchoTerms(int window, long size) {
    private static final int MOST_WINDOW = 1 << 12;
    private static final int LENGTH = Integer.BYTES + Long.BYTES;

    /** Checks the numbers. */
    EchoTerms {
        if (window < 1 || window > MOST_WINDOW || size < 1 || size > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("window=" + window + ", size=" + size + ": expected 1 to " + MOST_WINDOW
                    + ", 1 to " + Integer.MAX_VALUE);
        }
    }

    byte[] encode() {
        return ByteBuffer.allocate(LENGTH).putInt(window).putLong(size).array();
    }

    /**
     * Reads them.
     *
     * @param data private data, perhaps with padding behind it
     * @throws IllegalArgumentException if they are not there or make no sense
     */
    static EchoTerms decode(byte[] data) {
        if (data.length < LENGTH) {
            throw new IllegalArgumentException(data.length + " bytes of private data: expected " + LENGTH);
        }
        ByteBuffer buffer = ByteBuffer.wrap(data);
        return new EchoTerms(buffer.getInt(), buffer.getLong());
    }
}
