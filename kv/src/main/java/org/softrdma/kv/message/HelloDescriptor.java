package org.softrdma.kv.message;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.Optional;

/**
 * Binds a queue pair to the memcached connection on which the server gave the token. The private data of the connect,
 * where the server wants it there ({@link TokenPlace}), possibly padded with zeros; and in any case the first SEND.
 * Little endian, no alignment. The client writes all of it.
 *
 * <pre>
 *  31                                                              0
 * +-----------------------------------------------------------------+
 * |  magic, "SRKV" in memory order                                   |   0
 * +-----------------------------------------------------------------+
 * |  protocol version, as in "rdma hello 2"                          |   4
 * +-----------------------------------------------------------------+
 * |  token, 16 bytes; 32 hexadecimal digits on the connection        |   8
 * |                                                                  |  20
 * +-----------------------------------------------------------------+
 * </pre>
 */
public final class HelloDescriptor {
    /** The version that this class and the rdma commands describe. */
    public static final int VERSION = 2;

    /** Bytes of a token. */
    public static final int TOKEN_LENGTH = 16;

    private static final int MAGIC_OFFSET = 0;
    private static final int VERSION_OFFSET = MAGIC_OFFSET + Integer.BYTES;
    private static final int TOKEN_OFFSET = VERSION_OFFSET + Integer.BYTES;

    /** Bytes of the message. */
    public static final int LENGTH = TOKEN_OFFSET + TOKEN_LENGTH;

    private static final int MAGIC = 'S' | 'R' << 8 | 'K' << 16 | 'V' << 24;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final HexFormat HEX = HexFormat.of();

    private HelloDescriptor() {}

    /**
     * Writes the message.
     *
     * @param memory takes it
     * @param offset where it goes
     * @param token the token in hexadecimal digits
     * @throws IllegalArgumentException if it is not one
     */
    public static void write(MemorySegment memory, long offset, String token) {
        byte[] bytes = HEX.parseHex(token);
        if (bytes.length != TOKEN_LENGTH) {
            throw new IllegalArgumentException("token of " + bytes.length + " bytes, expected " + TOKEN_LENGTH);
        }
        memory.set(INT, offset + MAGIC_OFFSET, MAGIC);
        memory.set(INT, offset + VERSION_OFFSET, VERSION);
        MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, offset + TOKEN_OFFSET, TOKEN_LENGTH);
    }

    /**
     * The message as private data.
     *
     * @param token the token in hexadecimal digits
     * @throws IllegalArgumentException if it is not one
     */
    public static byte[] privateData(String token) {
        byte[] bytes = new byte[LENGTH];
        write(MemorySegment.ofArray(bytes), 0, token);
        return bytes;
    }

    /**
     * The token in the private data of a connect, if there is one; what follows the message is padding.
     *
     * @param privateData from a peer, it may be anything
     */
    public static Optional<String> tokenOf(byte[] privateData) {
        MemorySegment memory = MemorySegment.ofArray(privateData);
        return isValid(memory, 0, Math.min(privateData.length, LENGTH))
                ? Optional.of(token(memory, 0))
                : Optional.empty();
    }

    /**
     * True if this is such a message of our version.
     *
     * @param memory holds the message
     * @param offset where it starts
     * @param available bytes received
     */
    public static boolean isValid(MemorySegment memory, long offset, long available) {
        return available == LENGTH
                && memory.get(INT, offset + MAGIC_OFFSET) == MAGIC
                && memory.get(INT, offset + VERSION_OFFSET) == VERSION;
    }

    /**
     * The token in hexadecimal digits.
     *
     * @param memory holds a valid message
     * @param offset where it starts
     */
    public static String token(MemorySegment memory, long offset) {
        byte[] bytes = memory.asSlice(offset + TOKEN_OFFSET, TOKEN_LENGTH).toArray(ValueLayout.JAVA_BYTE);
        return HEX.formatHex(bytes);
    }
}
