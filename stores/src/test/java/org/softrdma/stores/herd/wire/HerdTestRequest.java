package org.softrdma.stores.herd.wire;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import org.softrdma.stores.client.OperationKind;

/** A request of "key", perhaps with "value!". */
public record HerdTestRequest(OperationKind operation, int valueLength, int slot, int number, int attempt)
        implements HerdAsked {
    private static final byte[] PAIR = "keyvalue!".getBytes(StandardCharsets.US_ASCII);
    private static final int KEY_LENGTH = 3;

    /** A PUT. */
    public static HerdTestRequest put(int slot, int number, int attempt) {
        return new HerdTestRequest(OperationKind.PUT, PAIR.length - KEY_LENGTH, slot, number, attempt);
    }

    /** A GET. */
    public static HerdTestRequest get(int slot, int number, int attempt) {
        return new HerdTestRequest(OperationKind.GET, 0, slot, number, attempt);
    }

    @Override
    public MemorySegment memory() {
        return MemorySegment.ofArray(PAIR);
    }

    @Override
    public long keyAt() {
        return 0;
    }

    @Override
    public int keyLength() {
        return KEY_LENGTH;
    }

    @Override
    public long valueAt() {
        return KEY_LENGTH;
    }
}
