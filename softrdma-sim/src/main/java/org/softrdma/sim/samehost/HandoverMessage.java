package org.softrdma.sim.samehost;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.softrdma.net.kernel.LocalSocket;
import org.softrdma.sim.memory.KeyScrambler;

/**
 * The messages between handover client and server, each of {@link LocalSocket#MESSAGE_BYTES}, big endian, the rest zero.
 *
 * <pre>
 *   0  magic and version     4  kind     8  what the kind has
 *   HELLO    the ends of the TCP connection (40 bytes)     with the page of counts
 *   WELCOME  domain, eight constants of the rkeys          with the page of the connection's life
 *   NEXT     files seen, -1 at first
 *   LIST     0                                             with the directory
 *   CHUNK    files seen, number                            with a part of the table
 *   MEMORY   files seen, number, length (8 bytes)          with an allocation
 *   END      files seen: there are no more now
 * </pre>
 *
 * <p>A HELLO is answered by WELCOME, a NEXT by one of the last four. Whatever is refused is answered by closing.
 */
final class HandoverMessage {
    static final int HELLO = 1;
    static final int WELCOME = 2;
    static final int NEXT = 3;
    static final int CHUNK = 4;
    static final int MEMORY = 5;
    static final int END = 6;
    static final int LIST = 7;

    private static final int MAGIC = 0x73724801;

    private HandoverMessage() {}

    /** Begins a message. */
    static ByteBuffer write(int kind) {
        return ByteBuffer.allocate(LocalSocket.MESSAGE_BYTES).putInt(MAGIC).putInt(kind);
    }

    /** All bytes of a message that was written. */
    static byte[] bytes(ByteBuffer message) {
        byte[] bytes = empty();
        message.get(0, bytes);
        return bytes;
    }

    /** An empty message, to be filled. */
    static byte[] empty() {
        return new byte[LocalSocket.MESSAGE_BYTES];
    }

    /** Its kind; the buffer stands behind it then. */
    static int kind(ByteBuffer message) throws IOException {
        int magic = message.getInt();
        if (magic != MAGIC) {
            throw new IOException("a message begins with " + Integer.toHexString(magic));
        }
        return message.getInt();
    }

    /** Refuses any other kind. */
    static void expect(ByteBuffer message, int kind) throws IOException {
        int found = kind(message);
        if (found != kind) {
            throw new IOException("a message of kind " + found + ": expected " + kind);
        }
    }

    static ByteBuffer welcome(int domain, int[] secrets) {
        ByteBuffer message = write(WELCOME).putInt(domain);
        for (int secret : secrets) {
            message.putInt(secret);
        }
        return message;
    }

    static KeyScrambler keys(ByteBuffer message) {
        int[] secrets = new int[KeyScrambler.SECRETS];
        for (int i = 0; i < secrets.length; i++) {
            secrets[i] = message.getInt();
        }
        return new KeyScrambler(secrets);
    }
}
