package org.softrdma.farm.graph;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.LinkedHashSet;
import java.util.Set;
import org.softrdma.farm.memory.FatPointer;
import org.softrdma.farm.memory.FatPointerDescriptor;

/**
 * What {@link GraphFunctions#FIND} is given, little endian. It is shipped to the node.
 *
 * <pre>
 *   0 fat pointer to the node, 16 | 16 u32 type | 20 u32 limit | 24 i64 time of the oldest | 32 i64 time of the newest
 *  40 u32 bytes that may be told | 44 u32 pointers | 48 fat pointers to nodes that they lead to
 * </pre>
 */
final class GraphCallDescriptor {
    private static final int TYPE_OFFSET = FatPointerDescriptor.LENGTH;
    private static final int LIMIT_OFFSET = TYPE_OFFSET + Integer.BYTES;
    private static final int FROM_OFFSET = LIMIT_OFFSET + Integer.BYTES;
    private static final int UNTIL_OFFSET = FROM_OFFSET + Long.BYTES;
    private static final int ROOM_OFFSET = UNTIL_OFFSET + Long.BYTES;
    private static final int COUNT_OFFSET = ROOM_OFFSET + Integer.BYTES;
    private static final int TO_OFFSET = COUNT_OFFSET + Integer.BYTES;

    private GraphCallDescriptor() {}

    static byte[] find(FatPointer node, EdgeQuery query, int room) {
        ByteBuffer call = ByteBuffer.allocate(TO_OFFSET + query.to().size() * FatPointerDescriptor.LENGTH)
                .order(ByteOrder.LITTLE_ENDIAN);
        FatPointerDescriptor.put(call, 0, node);
        call.putInt(TYPE_OFFSET, query.type())
                .putInt(LIMIT_OFFSET, query.limit())
                .putLong(FROM_OFFSET, query.from())
                .putLong(UNTIL_OFFSET, query.until())
                .putInt(ROOM_OFFSET, room)
                .putInt(COUNT_OFFSET, query.to().size());
        int offset = TO_OFFSET;
        for (FatPointer to : query.to()) {
            FatPointerDescriptor.put(call, offset, to);
            offset += FatPointerDescriptor.LENGTH;
        }
        return call.array();
    }

    // ---- at the primary

    /**
     * Checks.
     *
     * @throws IllegalArgumentException if it is no such call
     */
    static void require(ByteBuffer call) {
        if (call.limit() < TO_OFFSET
                || call.getInt(COUNT_OFFSET) < 0
                || call.getInt(COUNT_OFFSET) > (call.limit() - TO_OFFSET) / FatPointerDescriptor.LENGTH
                || call.getInt(TYPE_OFFSET) < 0
                || call.getInt(TYPE_OFFSET) >= GraphShape.MOST_TYPES) {
            throw new IllegalArgumentException(call.limit() + " bytes are no call of a graph");
        }
    }

    static FatPointer node(ByteBuffer call) {
        return FatPointerDescriptor.get(call, 0);
    }

    static EdgeQuery query(ByteBuffer call) {
        Set<FatPointer> to = new LinkedHashSet<>();
        for (int i = 0; i < call.getInt(COUNT_OFFSET); i++) {
            to.add(FatPointerDescriptor.get(call, TO_OFFSET + i * FatPointerDescriptor.LENGTH));
        }
        return new EdgeQuery(
                call.getInt(TYPE_OFFSET),
                to,
                call.getLong(FROM_OFFSET),
                call.getLong(UNTIL_OFFSET),
                call.getInt(LIMIT_OFFSET));
    }

    static int room(ByteBuffer call) {
        return call.getInt(ROOM_OFFSET);
    }
}
