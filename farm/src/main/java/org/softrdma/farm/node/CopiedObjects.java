package org.softrdma.farm.node;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.softrdma.farm.memory.FarmObjectDescriptor;
import org.softrdma.farm.memory.FarmSlabs;
import org.softrdma.farm.message.NodeMessageDescriptor;
import org.softrdma.farm.message.NodeMessageKind;
import org.softrdma.farm.message.NodeVerdict;
import org.softrdma.farm.space.FarmRegion;
import org.softrdma.farm.space.FarmSpace;
import org.softrdma.farm.space.SpaceShape;

/**
 * Objects of a region for a copy of it, little endian: all that were ever written, also those that are free again, because
 * their versions and incarnations go on. The primary's thread, which writes them, hands them over, so each is whole.
 *
 * <pre>
 *  request   body 0 u32 region | 4 u32 0 | 8 u64 offset from which on
 *  answer  result 0 u64 offset from which on to ask next, 0 if that was all | 8 u32 bytes of a place | 12 u32 objects
 *                16 each object: u64 offset | its place, as it is in memory, without its lock
 * </pre>
 */
final class CopiedObjects {
    private static final int REGION_OFFSET = NodeMessageDescriptor.BODY_OFFSET;
    private static final int FROM_OFFSET = REGION_OFFSET + Long.BYTES;
    private static final int BODY = FROM_OFFSET + Long.BYTES - REGION_OFFSET;
    private static final int NEXT_OFFSET = NodeMessageDescriptor.RESULT_OFFSET;
    private static final int PLACE_OFFSET = NEXT_OFFSET + Long.BYTES;
    private static final int COUNT_OFFSET = PLACE_OFFSET + Integer.BYTES;
    private static final int OBJECTS_OFFSET = COUNT_OFFSET + Integer.BYTES;
    private static final long ALL = 0;
    /** Places that one answer looks at: the primary has other things to do. */
    private static final int MOST_PLACES = 1024;

    private CopiedObjects() {}

    static ByteBuffer request(int region, long from) {
        return NodeMessageDescriptor.request(NodeMessageKind.COPY, BODY)
                .putInt(REGION_OFFSET, region)
                .putLong(FROM_OFFSET, from);
    }

    /** Bytes of an answer that has the longest object that a message can write. */
    static int longestAnswer(SpaceShape shape, int longestMessage) {
        int place = shape.stride(Math.min(shape.longest(), longestMessage));
        return Math.max(longestMessage, OBJECTS_OFFSET + Long.BYTES + place);
    }

    /** The answer of a machine that has this space. */
    static ByteBuffer answer(ByteBuffer request, FarmSpace space, int longestMessage) {
        boolean isValid = request.limit() >= REGION_OFFSET + BODY;
        int number = isValid ? request.getInt(REGION_OFFSET) : -1;
        long from = isValid ? request.getLong(FROM_OFFSET) : -1;
        if (from < 0) {
            return NodeMessageDescriptor.answer(NodeVerdict.REFUSED, 0);
        }
        FarmRegion region = space.region(number);
        if (region == null || !space.serves(number)) {
            return NodeMessageDescriptor.answer(NodeVerdict.NOT_READY, 0);
        }
        int longest = longestAnswer(space.shape(), longestMessage);
        ByteBuffer answer = NodeMessageDescriptor.answer(NodeVerdict.DONE, longest - NEXT_OFFSET);
        int position = OBJECTS_OFFSET;
        int count = 0;
        long place = region.placeFrom(from);
        int length = place == FarmSlabs.FULL ? 0 : region.slotLength(place);
        for (int looks = 0; looks < MOST_PLACES && place != FarmSlabs.FULL; looks++) {
            long version = region.version(place);
            boolean fits = position + Long.BYTES + length <= longest && region.slotLength(place) == length;
            if (version != 0 && !fits) {
                break;
            }
            if (version != 0) {
                answer.putLong(position, place);
                position += Long.BYTES;
                answer.put(position, region.segment().asSlice(place, length).asByteBuffer(), 0, length);
                answer.putLong(position + FarmObjectDescriptor.VERSION_OFFSET, version);
                position += length;
                count++;
            }
            place = region.placeFrom(place + region.slotLength(place));
        }
        return answer.putLong(NEXT_OFFSET, place == FarmSlabs.FULL ? ALL : place)
                .putInt(PLACE_OFFSET, length)
                .putInt(COUNT_OFFSET, count)
                .limit(position);
    }

    /** True if an answer brings objects, and says how to go on. */
    static boolean isValid(ByteBuffer answer, long from) {
        if (NodeMessageDescriptor.verdict(answer) != NodeVerdict.DONE || answer.limit() < OBJECTS_OFFSET) {
            return false;
        }
        long length = answer.getInt(PLACE_OFFSET);
        long count = answer.getInt(COUNT_OFFSET);
        boolean goesOn = isAll(answer) || next(answer) > from;
        return goesOn && length >= 0 && count >= 0 && answer.limit() - OBJECTS_OFFSET == count * (Long.BYTES + length);
    }

    /** True if nothing comes behind it. */
    static boolean isAll(ByteBuffer answer) {
        return next(answer) == ALL;
    }

    /** From where on to ask next. */
    static long next(ByteBuffer answer) {
        return answer.getLong(NEXT_OFFSET);
    }

    /**
     * Puts the objects of a valid answer down.
     *
     * @return false if one of them cannot be where it is said to be
     */
    static boolean put(ByteBuffer answer, FarmRegion region) {
        int length = answer.getInt(PLACE_OFFSET);
        MemorySegment all = MemorySegment.ofBuffer(answer.duplicate().position(0));
        int position = OBJECTS_OFFSET;
        for (int i = 0; i < answer.getInt(COUNT_OFFSET); i++) {
            long offset = answer.getLong(position);
            position += Long.BYTES;
            long version = answer.getLong(position + FarmObjectDescriptor.VERSION_OFFSET);
            if ((version & FarmObjectDescriptor.LOCK_MASK) != 0
                    || !region.put(offset, version, all.asSlice(position, length))) {
                return false;
            }
            position += length;
        }
        return true;
    }
}
