package org.softrdma.farm.node;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.softrdma.verbs.RemoteRegion;

/**
 * What two machines tell each other as private data of connect and accept, little endian; the paper does not say how they
 * meet.
 *
 * <pre>
 *  63                            32 31            16 15               0
 * +--------------------------------+----------------+------------------+
 * |  magic, "FaRN"                 |  version       |  machine         |   0
 * +--------------------------------+----------------+------------------+
 * |  cluster                                                           |   8
 * +--------------------------------------------------------------------+
 * |  address of the inbox                                              |  16
 * +--------------------------------+-----------------------------------+
 * |  bytes of its ring             |  its rkey                         |  24
 * +--------------------------------+-----------------------------------+
 * </pre>
 */
final class NodeHelloDescriptor {
    static final int MACHINE_OFFSET = 0;
    static final int VERSION_OFFSET = MACHINE_OFFSET + Short.BYTES;
    static final int MAGIC_OFFSET = VERSION_OFFSET + Short.BYTES;
    static final int CLUSTER_OFFSET = MAGIC_OFFSET + Integer.BYTES;
    static final int INBOX_OFFSET = CLUSTER_OFFSET + Long.BYTES;
    static final int RKEY_OFFSET = INBOX_OFFSET + Long.BYTES;
    static final int RING_OFFSET = RKEY_OFFSET + Integer.BYTES;
    static final int LENGTH = RING_OFFSET + Integer.BYTES;

    static final int MAGIC = 0x4e52_6146;
    static final short VERSION = 1;

    private NodeHelloDescriptor() {}

    static byte[] encode(int machine, long cluster, RemoteRegion inbox, int ring) {
        ByteBuffer buffer = ByteBuffer.allocate(LENGTH).order(ByteOrder.LITTLE_ENDIAN);
        buffer.putShort(MACHINE_OFFSET, (short) machine);
        buffer.putShort(VERSION_OFFSET, VERSION);
        buffer.putInt(MAGIC_OFFSET, MAGIC);
        buffer.putLong(CLUSTER_OFFSET, cluster);
        buffer.putLong(INBOX_OFFSET, inbox.address());
        buffer.putInt(RKEY_OFFSET, inbox.rkey());
        buffer.putInt(RING_OFFSET, ring);
        return buffer.array();
    }

    /** True if it is a hello of this version, of a machine of a cluster with rings of this length. Zeroes may follow it. */
    static boolean isFor(byte[] data, long cluster, int ring) {
        ByteBuffer buffer = ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN);
        return data.length >= LENGTH
                && buffer.getInt(MAGIC_OFFSET) == MAGIC
                && buffer.getShort(VERSION_OFFSET) == VERSION
                && buffer.getLong(CLUSTER_OFFSET) == cluster
                && buffer.getInt(RING_OFFSET) == ring;
    }

    static int machine(byte[] data) {
        return Short.toUnsignedInt(
                ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN).getShort(MACHINE_OFFSET));
    }

    static RemoteRegion inbox(byte[] data) {
        ByteBuffer buffer = ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN);
        return new RemoteRegion(buffer.getLong(INBOX_OFFSET), buffer.getInt(RING_OFFSET), buffer.getInt(RKEY_OFFSET));
    }
}
