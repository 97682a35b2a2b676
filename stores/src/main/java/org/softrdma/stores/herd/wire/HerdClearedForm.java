package org.softrdma.stores.herd.wire;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.softrdma.stores.MemorySteps;
import org.softrdma.stores.client.OperationKind;
import org.softrdma.stores.hash.SeededHash;

/**
 * The published form ({@link HerdClearedRequestDescriptor}): a request is there when the last word is not zero, and the
 * server clears it. That the rest is there by then is the device's affair; that it is not executed twice, nobody's.
 */
final class HerdClearedForm implements HerdRequestForm {
    private final int maxValueLength;
    private final long seed;

    HerdClearedForm(int maxValueLength, long seed) {
        this.maxValueLength = maxValueLength;
        this.seed = seed;
    }

    @Override
    public int maxLength() {
        return HerdClearedRequestDescriptor.putLength(maxValueLength);
    }

    @Override
    public boolean isNumbered() {
        return false;
    }

    @Override
    public long hash(MemorySegment memory, long key, int keyLength) {
        return SeededHash.of(memory, key, keyLength, seed);
    }

    /** The last word of the key: other bits, and never 0. */
    private long last(MemorySegment memory, long key, int keyLength) {
        return SeededHash.of(memory, key, keyLength, ~seed) | 1;
    }

    @Override
    public int put(MemorySegment slots, ByteBuffer view, long end, HerdAsked asked) {
        MemorySegment source = asked.memory();
        HerdClearedRequestDescriptor.put(
                slots,
                end,
                command(asked),
                hash(source, asked.keyAt(), asked.keyLength()),
                last(source, asked.keyAt(), asked.keyLength()));
        if (asked.operation() == OperationKind.GET) {
            return HerdClearedRequestDescriptor.KEY_LENGTH;
        }
        int length = HerdClearedRequestDescriptor.putLength(asked.valueLength());
        MemorySegment.copy(source, asked.valueAt(), slots, end - length, asked.valueLength());
        return length;
    }

    private static int command(HerdAsked asked) {
        return switch (asked.operation()) {
            case GET -> HerdClearedRequestDescriptor.GET;
            case PUT -> asked.valueLength() + 1;
            case REMOVE -> HerdClearedRequestDescriptor.REMOVE;
        };
    }

    @Override
    public Found take(MemorySegment slots, long end, int slot, long[] seen, MemorySteps steps, HerdRequest request) {
        if (HerdClearedRequestDescriptor.pollWord(slots, end) == 0) {
            return Found.NOTHING;
        }
        int command = HerdClearedRequestDescriptor.command(slots, end);
        int valueLength = Math.max(command, 1) - 1;
        if (command < HerdClearedRequestDescriptor.REMOVE || valueLength > maxValueLength) {
            return Found.WRONG;
        }
        int length = HerdClearedRequestDescriptor.putLength(valueLength);
        steps.copy(slots, end - length, request.memory, 0, length);
        HerdClearedRequestDescriptor.clear(slots, end);
        request.operation = command == HerdClearedRequestDescriptor.GET
                ? OperationKind.GET
                : command == HerdClearedRequestDescriptor.REMOVE ? OperationKind.REMOVE : OperationKind.PUT;
        request.key = length + (long) HerdClearedRequestDescriptor.KEY_OFFSET;
        request.keyLength = HerdClearedRequestDescriptor.KEY_LENGTH;
        request.hash = HerdClearedRequestDescriptor.first(request.memory, length);
        request.value = 0;
        request.valueLength = valueLength;
        request.slot = slot;
        request.number = 0;
        request.attempt = 0;
        return Found.REQUEST;
    }
}
