package org.softrdma.farm.store;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.softrdma.stores.Protocol;
import org.softrdma.verbs.RemoteRegion;

/**
 * The first SEND of a client, little endian.
 *
 * <pre>
 *  63            56 55            48 47              32 31                               0
 * +----------------+----------------+------------------+----------------------------------+
 * |       0        | 0 paper, 1 safe|  version         |  magic, "FaRM"                   |   0
 * +----------------+----------------+------------------+----------------------------------+
 * |  address of the inbox, whose ring is {@value #REPLY_RING} bytes long                   |   8
 * +----------------------------------------------------+----------------------------------+
 * |  0                                                 |  rkey of the inbox               |  16
 * +----------------------------------------------------+----------------------------------+
 * </pre>
 */
final class FarmHelloDescriptor {
    static final int MAGIC_OFFSET = 0;
    static final int VERSION_OFFSET = MAGIC_OFFSET + Integer.BYTES;
    static final int PROTOCOL_OFFSET = VERSION_OFFSET + Short.BYTES;
    static final int INBOX_OFFSET = PROTOCOL_OFFSET + Short.BYTES;
    static final int RKEY_OFFSET = INBOX_OFFSET + Long.BYTES;
    static final int LENGTH = RKEY_OFFSET + Long.BYTES;

    static final int MAGIC = 0x4d52_6146;
    static final short VERSION = 1;

    /** Bytes of the ring for a server's replies. */
    static final int REPLY_RING = 4096;

    private FarmHelloDescriptor() {}

    static void write(ByteBuffer buffer, Protocol protocol, RemoteRegion inbox) {
        buffer.order(ByteOrder.LITTLE_ENDIAN);
        buffer.putInt(MAGIC_OFFSET, MAGIC);
        buffer.putShort(VERSION_OFFSET, VERSION);
        buffer.putShort(PROTOCOL_OFFSET, (short) protocol.ordinal());
        buffer.putLong(INBOX_OFFSET, inbox.address());
        buffer.putLong(RKEY_OFFSET, Integer.toUnsignedLong(inbox.rkey()));
    }

    /** True if it is a hello of this version for this protocol. */
    static boolean isFor(ByteBuffer buffer, long length, Protocol protocol) {
        return length == LENGTH
                && buffer.getInt(MAGIC_OFFSET) == MAGIC
                && buffer.getShort(VERSION_OFFSET) == VERSION
                && buffer.getShort(PROTOCOL_OFFSET) == protocol.ordinal();
    }

    static RemoteRegion inbox(ByteBuffer buffer) {
        return new RemoteRegion(buffer.getLong(INBOX_OFFSET), REPLY_RING, (int) buffer.getLong(RKEY_OFFSET));
    }
}
