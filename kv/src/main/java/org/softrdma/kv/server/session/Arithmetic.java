package org.softrdma.kv.server.session;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.softrdma.kv.memcached.DecimalValue;
import org.softrdma.kv.memcached.TextProtocol;
import org.softrdma.kv.store.ItemRewriter;
import org.softrdma.kv.store.StoredItem;

/**
 * incr and decr: incr wraps at 2^64, decr stops at 0, and a value never gets shorter: blanks follow the digits, as in
 * memcached. Reused by its owner.
 */
final class Arithmetic implements ItemRewriter {
    private final byte[] digits = new byte[DecimalValue.MAX_LENGTH];
    private long delta;
    private boolean up;
    private long result;
    private boolean longer;

    void begin(long newDelta, boolean increment) {
        delta = newDelta;
        up = increment;
    }

    /** The new number, unsigned; once it was stored. */
    long result() {
        return result;
    }

    @Override
    public int measure(StoredItem old) {
        if (!DecimalValue.isNumber(old.memory(), old.valueOffset(), old.valueLength())) {
            return REFUSED;
        }
        long value = DecimalValue.number(old.memory(), old.valueOffset(), old.valueLength());
        if (up) {
            result = value + delta;
        } else {
            result = Long.compareUnsigned(value, delta) <= 0 ? 0 : value - delta;
        }
        int length = TextProtocol.number(digits, 0, result);
        longer = length > old.valueLength();
        return Math.max(old.valueLength(), length);
    }

    @Override
    public void write(MemorySegment old, long oldOffset, int oldLength, MemorySegment target, long offset) {
        int length = TextProtocol.number(digits, 0, result);
        MemorySegment.copy(digits, 0, target, ValueLayout.JAVA_BYTE, offset, length);
        if (oldLength > length) {
            target.asSlice(offset + length, oldLength - length).fill((byte) ' ');
        }
    }

    @Override
    public boolean takesEmpty() {
        return false;
    }

    @Override
    public Marks marks() {
        return longer ? Marks.NONE : Marks.KEPT; // memcached makes a new item of a number that needs more bytes
    }
}
