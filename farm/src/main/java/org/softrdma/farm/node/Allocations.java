package org.softrdma.farm.node;

import java.nio.ByteBuffer;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.memory.FarmObjectDescriptor;
import org.softrdma.farm.memory.ObjectLines;
import org.softrdma.farm.message.NodeMessageDescriptor;
import org.softrdma.farm.message.NodeMessageKind;
import org.softrdma.farm.message.NodeVerdict;
import org.softrdma.farm.space.FarmRegion;
import org.softrdma.farm.space.FarmSpace;

/**
 * Room for an object, little endian. It is reserved, not allocated: that a transaction does.
 *
 * <pre>
 *  request   body 0 u64 hint | 8 u32 length of header and payload | 12 u32 0
 *  answer  result 0 u64 address | 8 u64 version | 16 u64 incarnation
 * </pre>
 */
final class Allocations {
    private static final int HINT_OFFSET = NodeMessageDescriptor.BODY_OFFSET;
    private static final int LENGTH_OFFSET = HINT_OFFSET + Long.BYTES;
    private static final int BODY = LENGTH_OFFSET + Long.BYTES - HINT_OFFSET;
    private static final int ADDRESS_OFFSET = NodeMessageDescriptor.RESULT_OFFSET;
    private static final int VERSION_OFFSET = ADDRESS_OFFSET + Long.BYTES;
    private static final int INCARNATION_OFFSET = VERSION_OFFSET + Long.BYTES;
    private static final int RESULT = INCARNATION_OFFSET + Long.BYTES - ADDRESS_OFFSET;

    private Allocations() {}

    static ByteBuffer request(int length, long hint) {
        return NodeMessageDescriptor.request(NodeMessageKind.ALLOCATE, BODY)
                .putLong(HINT_OFFSET, hint)
                .putInt(LENGTH_OFFSET, length);
    }

    /** The answer of a machine that has this space. */
    static ByteBuffer answer(ByteBuffer request, FarmSpace space) {
        int length = request.limit() < HINT_OFFSET + BODY ? 0 : request.getInt(LENGTH_OFFSET);
        if (length < FarmObjectDescriptor.PAYLOAD_OFFSET
                || length > space.shape().longest()) {
            return NodeMessageDescriptor.answer(NodeVerdict.REFUSED, 0);
        }
        long address = space.allocate(length, request.getLong(HINT_OFFSET));
        FarmRegion region = space.region(FarmAddress.region(address));
        if (address == FarmAddress.NONE || region == null) {
            return NodeMessageDescriptor.answer(NodeVerdict.NOT_READY, 0);
        }
        long offset = FarmAddress.offset(address);
        return NodeMessageDescriptor.answer(NodeVerdict.DONE, RESULT)
                .putLong(ADDRESS_OFFSET, address)
                .putLong(VERSION_OFFSET, region.writer().version(offset))
                .putLong(
                        INCARNATION_OFFSET,
                        ObjectLines.getLong(region.segment(), offset, FarmObjectDescriptor.INCARNATION_OFFSET));
    }

    /** The address, or {@link FarmAddress#NONE} if there is no room. */
    static long address(ByteBuffer answer) {
        return NodeMessageDescriptor.verdict(answer) != NodeVerdict.DONE || answer.limit() < ADDRESS_OFFSET + RESULT
                ? FarmAddress.NONE
                : answer.getLong(ADDRESS_OFFSET);
    }

    /** The version that its place has. */
    static long version(ByteBuffer answer) {
        return answer.getLong(VERSION_OFFSET);
    }

    /** The incarnation that its place has. */
    static long incarnation(ByteBuffer answer) {
        return answer.getLong(INCARNATION_OFFSET);
    }
}
