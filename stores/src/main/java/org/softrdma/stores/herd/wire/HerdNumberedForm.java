package org.softrdma.stores.herd.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.softrdma.stores.MemorySteps;
import org.softrdma.stores.client.OperationKind;
import org.softrdma.stores.hash.SeededHash;

/**
 * The mended form ({@link HerdRequestDescriptor}): a request proves itself by its checksum, in whatever order its bytes
 * land, and has a number. The server copies it first, and looks at the copy only, because its peer may write meanwhile.
 */
final class HerdNumberedForm implements HerdRequestForm {
    private final int maxKeyLength;
    private final int maxValueLength;
    private final long seed;
    private final CRC32C crc = new CRC32C();

    HerdNumberedForm(int maxKeyLength, int maxValueLength, long seed) {
        this.maxKeyLength = maxKeyLength;
        this.maxValueLength = maxValueLength;
        this.seed = seed;
    }

    @Override
    public int maxLength() {
        return HerdRequestDescriptor.length(maxKeyLength, maxValueLength);
    }

    @Override
    public boolean isNumbered() {
        return true;
    }

    @Override
    public long hash(MemorySegment memory, long key, int keyLength) {
        return SeededHash.of(memory, key, keyLength, seed);
    }

    @Override
    public int put(MemorySegment slots, ByteBuffer view, long end, HerdAsked asked) {
        MemorySegment source = asked.memory();
        int keyLength = asked.keyLength();
        int valueLength = asked.valueLength();
        int length = HerdRequestDescriptor.length(keyLength, valueLength);
        long begin = end - length;
        long padding = begin + keyLength + valueLength;
        MemorySegment.copy(source, asked.keyAt(), slots, begin, keyLength);
        MemorySegment.copy(source, asked.valueAt(), slots, begin + keyLength, valueLength);
        for (long at = padding; at < end - HerdRequestDescriptor.TRAILER_LENGTH; at++) {
            slots.set(ValueLayout.JAVA_BYTE, at, (byte) 0);
        }
        HerdRequestDescriptor.putTrailer(slots, end, asked);
        HerdRequestDescriptor.putCrc(slots, end, crc(view, begin, end));
        return length;
    }

    private int crc(ByteBuffer view, long begin, long end) {
        crc.reset();
        view.limit((int) end + HerdRequestDescriptor.CRC_OFFSET).position((int) begin);
        crc.update(view);
        view.clear();
        return (int) crc.getValue();
    }

    @Override
    public Found take(MemorySegment slots, long end, int slot, long[] seen, MemorySteps steps, HerdRequest request) {
        long word = HerdRequestDescriptor.pollWord(slots, end);
        if (word == seen[slot]) {
            return Found.NOTHING;
        }
        int keyLength = HerdRequestDescriptor.keyLength(slots, end);
        int valueLength = HerdRequestDescriptor.valueLength(slots, end);
        if (keyLength > maxKeyLength || valueLength < 0 || valueLength > maxValueLength) {
            return Found.PART; // or wrong: only the checksum tells, and nobody knows of what
        }
        int length = HerdRequestDescriptor.length(keyLength, valueLength);
        steps.copy(slots, end - length, request.memory, 0, length);
        if (HerdRequestDescriptor.pollWord(request.memory, length) != word
                || crc(request.view, 0, length) != HerdRequestDescriptor.crc(word)) {
            return Found.PART;
        }
        seen[slot] = word;
        return read(length, slot, word, request) ? Found.REQUEST : Found.WRONG;
    }

    private boolean read(int length, int slot, long word, HerdRequest request) {
        MemorySegment memory = request.memory;
        OperationKind operation = HerdRequestDescriptor.operation(memory, length);
        int keyLength = HerdRequestDescriptor.keyLength(memory, length);
        int valueLength = HerdRequestDescriptor.valueLength(memory, length);
        if (operation == null
                || keyLength == 0
                || length != HerdRequestDescriptor.length(keyLength, valueLength)
                || HerdRequestDescriptor.slot(memory, length) != slot
                || HerdRequestDescriptor.number(word) == 0) {
            return false;
        }
        request.operation = operation;
        request.key = 0;
        request.keyLength = keyLength;
        request.hash = hash(memory, 0, keyLength);
        request.value = keyLength;
        request.valueLength = valueLength;
        request.slot = slot;
        request.number = HerdRequestDescriptor.number(word);
        request.attempt = HerdRequestDescriptor.attempt(memory, length);
        return valueLength == 0 || operation == OperationKind.PUT;
    }
}
