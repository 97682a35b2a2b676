package org.softrdma.farm.node;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.softrdma.farm.message.NodeMessageDescriptor;
import org.softrdma.farm.message.NodeMessageKind;
import org.softrdma.farm.message.NodeVerdict;
import org.softrdma.farm.space.FarmRegion;
import org.softrdma.farm.space.FarmSpace;
import org.softrdma.verbs.RemoteRegion;

/**
 * What to READ of a region, little endian.
 *
 * <pre>
 *  request   body 0 u32 region | 4 u32 0
 *  answer  result 0 u64 address | 8 u64 length | 16 u32 rkey | 20 u32 0
 * </pre>
 */
final class RegionCapabilities {
    private static final int REGION_OFFSET = NodeMessageDescriptor.BODY_OFFSET;
    private static final int ADDRESS_OFFSET = NodeMessageDescriptor.RESULT_OFFSET;
    private static final int LENGTH_OFFSET = ADDRESS_OFFSET + Long.BYTES;
    private static final int RKEY_OFFSET = LENGTH_OFFSET + Long.BYTES;
    private static final int RESULT = RKEY_OFFSET + Long.BYTES - ADDRESS_OFFSET;

    private RegionCapabilities() {}

    static ByteBuffer request(int region) {
        return NodeMessageDescriptor.request(NodeMessageKind.CAPABILITY, Long.BYTES)
                .putInt(REGION_OFFSET, region);
    }

    /** The answer of a machine that has this space. */
    static ByteBuffer answer(ByteBuffer request, FarmSpace space) {
        int number = request.limit() < REGION_OFFSET + Long.BYTES ? -1 : request.getInt(REGION_OFFSET);
        FarmRegion region = space.region(number);
        if (region == null || !space.serves(number)) {
            return NodeMessageDescriptor.answer(NodeVerdict.NOT_READY, 0);
        }
        RemoteRegion remote = region.remote();
        return NodeMessageDescriptor.answer(NodeVerdict.DONE, RESULT)
                .putLong(ADDRESS_OFFSET, remote.address())
                .putLong(LENGTH_OFFSET, remote.length())
                .putInt(RKEY_OFFSET, remote.rkey());
    }

    /** What an answer says, or null if there is none yet. */
    static @Nullable RemoteRegion of(ByteBuffer answer) {
        if (NodeMessageDescriptor.verdict(answer) != NodeVerdict.DONE || answer.limit() < ADDRESS_OFFSET + RESULT) {
            return null;
        }
        return new RemoteRegion(
                answer.getLong(ADDRESS_OFFSET), answer.getLong(LENGTH_OFFSET), answer.getInt(RKEY_OFFSET));
    }
}
