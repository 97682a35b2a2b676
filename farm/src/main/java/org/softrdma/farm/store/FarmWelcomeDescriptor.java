package org.softrdma.farm.store;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.softrdma.farm.table.TableShape;
import org.softrdma.verbs.RemoteRegion;

/**
 * A server's answer to a hello, by SEND, little endian: everything that a client must know to READ the table and to
 * WRITE requests. A refusal is its first 8 bytes.
 *
 * <pre>
 *  63            56 55            48 47              32 31                               0
 * +----------------+----------------+------------------+----------------------------------+
 * |       0        | 0 refused      |  version         |  magic, "FaRM"                   |   0
 * |                | 1 welcome      |                  |                                  |
 * +----------------+----------------+------------------+----------------------------------+
 * |  number of this life of the server                                                    |   8
 * +---------------------------------------------------------------------------------------+
 * |  address of the inbox                                                                 |  16
 * +----------------------------------------------------+----------------------------------+
 * |  bytes of the ring in it                           |  rkey of the inbox               |  24
 * +----------------------------------------------------+----------------------------------+
 * |  longest value                                     |  longest key                     |  32
 * +----------------------------------------------------+----------------------------------+
 * |  seed of the hash                                                                     |  40
 * +----------------------------------------------------+----------------------------------+
 * |  homes of a shard                                  |  flags: 1 inline, 2 checksums    |  48
 * +----------------------------------------------------+----------------------------------+
 * |  neighbourhood                                     |  shards                          |  56
 * +----------------------------------------------------+----------------------------------+
 * |  for each shard: address of its region, then its rkey as 8 bytes                      |  64
 * +---------------------------------------------------------------------------------------+
 * </pre>
 */
final class FarmWelcomeDescriptor {
    static final int MAGIC_OFFSET = 0;
    static final int VERSION_OFFSET = MAGIC_OFFSET + Integer.BYTES;
    static final int STATUS_OFFSET = VERSION_OFFSET + Short.BYTES;
    static final int LIFE_OFFSET = STATUS_OFFSET + Short.BYTES;
    static final int INBOX_OFFSET = LIFE_OFFSET + Long.BYTES;
    static final int RKEY_OFFSET = INBOX_OFFSET + Long.BYTES;
    static final int RING_OFFSET = RKEY_OFFSET + Integer.BYTES;
    static final int MAX_KEY_OFFSET = RING_OFFSET + Integer.BYTES;
    static final int MAX_VALUE_OFFSET = MAX_KEY_OFFSET + Integer.BYTES;
    static final int SEED_OFFSET = MAX_VALUE_OFFSET + Integer.BYTES;
    static final int FLAGS_OFFSET = SEED_OFFSET + Long.BYTES;
    static final int HOMES_OFFSET = FLAGS_OFFSET + Integer.BYTES;
    static final int SHARDS_OFFSET = HOMES_OFFSET + Integer.BYTES;
    static final int NEIGHBOURHOOD_OFFSET = SHARDS_OFFSET + Integer.BYTES;
    static final int REGIONS_OFFSET = NEIGHBOURHOOD_OFFSET + Integer.BYTES;
    static final int REGION_LENGTH = 2 * Long.BYTES;
    static final int REFUSAL_LENGTH = LIFE_OFFSET;

    static final int MOST_SHARDS = 64;
    static final int LONGEST = REGIONS_OFFSET + MOST_SHARDS * REGION_LENGTH;

    private static final short REFUSED = 0;
    private static final short WELCOME = 1;
    private static final int INLINE = 1;
    private static final int CHECKSUMS = 2;

    private FarmWelcomeDescriptor() {}

    /**
     * What a server tells.
     *
     * @param life number of this life of the server
     * @param inbox where requests go
     * @param ring bytes of the ring in it
     * @param maxKeyLength longest key
     * @param maxValueLength longest value
     * @param shape of the table
     * @param regions one for each shard
     */
    record Welcome(
            long life,
            RemoteRegion inbox,
            int ring,
            int maxKeyLength,
            int maxValueLength,
            TableShape shape,
            List<RemoteRegion> regions) {
        Welcome {
            regions = List.copyOf(regions);
        }
    }

    private static void begin(ByteBuffer buffer, short status) {
        buffer.order(ByteOrder.LITTLE_ENDIAN);
        buffer.putInt(MAGIC_OFFSET, FarmHelloDescriptor.MAGIC);
        buffer.putShort(VERSION_OFFSET, FarmHelloDescriptor.VERSION);
        buffer.putShort(STATUS_OFFSET, status);
    }

    /** Writes a refusal; returns its length. */
    static int refuse(ByteBuffer buffer) {
        begin(buffer, REFUSED);
        return REFUSAL_LENGTH;
    }

    /** Writes a welcome; returns its length. */
    static int write(ByteBuffer buffer, Welcome welcome) {
        begin(buffer, WELCOME);
        TableShape shape = welcome.shape();
        buffer.putLong(LIFE_OFFSET, welcome.life());
        buffer.putLong(INBOX_OFFSET, welcome.inbox().address());
        buffer.putInt(RKEY_OFFSET, welcome.inbox().rkey());
        buffer.putInt(RING_OFFSET, welcome.ring());
        buffer.putInt(MAX_KEY_OFFSET, welcome.maxKeyLength());
        buffer.putInt(MAX_VALUE_OFFSET, welcome.maxValueLength());
        buffer.putLong(SEED_OFFSET, shape.seed());
        buffer.putInt(FLAGS_OFFSET, (shape.inline() ? INLINE : 0) | (shape.checksums() ? CHECKSUMS : 0));
        buffer.putInt(HOMES_OFFSET, shape.homes());
        buffer.putInt(SHARDS_OFFSET, shape.shards());
        buffer.putInt(NEIGHBOURHOOD_OFFSET, shape.neighbourhood());
        for (int i = 0; i < welcome.regions().size(); i++) {
            int at = REGIONS_OFFSET + i * REGION_LENGTH;
            buffer.putLong(at, welcome.regions().get(i).address());
            buffer.putLong(
                    at + Long.BYTES,
                    Integer.toUnsignedLong(welcome.regions().get(i).rkey()));
        }
        return REGIONS_OFFSET + welcome.regions().size() * REGION_LENGTH;
    }

    /** True if it is a whole welcome of this version. */
    static boolean isValid(ByteBuffer buffer, long length) {
        buffer.order(ByteOrder.LITTLE_ENDIAN);
        if (length < REGIONS_OFFSET
                || buffer.getInt(MAGIC_OFFSET) != FarmHelloDescriptor.MAGIC
                || buffer.getShort(VERSION_OFFSET) != FarmHelloDescriptor.VERSION
                || buffer.getShort(STATUS_OFFSET) != WELCOME) {
            return false;
        }
        int shards = buffer.getInt(SHARDS_OFFSET);
        return shards >= 1 && shards <= MOST_SHARDS && length == REGIONS_OFFSET + (long) shards * REGION_LENGTH;
    }

    /** What a valid welcome tells; {@code IllegalArgumentException} if no table can be like that. */
    static Welcome read(ByteBuffer buffer) {
        int flags = buffer.getInt(FLAGS_OFFSET);
        boolean inline = (flags & INLINE) != 0;
        int maxKeyLength = buffer.getInt(MAX_KEY_OFFSET);
        int maxValueLength = buffer.getInt(MAX_VALUE_OFFSET);
        TableShape shape = new TableShape(
                buffer.getInt(NEIGHBOURHOOD_OFFSET),
                inline,
                inline ? maxKeyLength : 0,
                inline ? maxValueLength : 0,
                (flags & CHECKSUMS) != 0,
                buffer.getInt(HOMES_OFFSET),
                buffer.getInt(SHARDS_OFFSET),
                buffer.getLong(SEED_OFFSET));
        List<RemoteRegion> regions = new ArrayList<>();
        for (int i = 0; i < shape.shards(); i++) {
            int at = REGIONS_OFFSET + i * REGION_LENGTH;
            regions.add(new RemoteRegion(buffer.getLong(at), 0, (int) buffer.getLong(at + Long.BYTES)));
        }
        int ring = buffer.getInt(RING_OFFSET);
        RemoteRegion inbox = new RemoteRegion(buffer.getLong(INBOX_OFFSET), ring, buffer.getInt(RKEY_OFFSET));
        return new Welcome(buffer.getLong(LIFE_OFFSET), inbox, ring, maxKeyLength, maxValueLength, shape, regions);
    }
}
