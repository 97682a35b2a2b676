package org.softrdma.kv.binary;

import org.softrdma.kv.item.KeySlice;

/**
 * One request, taken apart by a {@link BinaryDecoder}. Reused: what it says holds until the next one. Which fields
 * mean something depends on the operation.
 */
public final class BinaryRequest {
    /** What is wrong with the frame; in the order in which memcached looks. */
    public enum Fault {
        /** Nothing. */
        NONE,
        /** Extras and key are longer than the body: where the next frame begins is not known. */
        LENGTHS,
        /** The key is too long, or the frame is none of its operation. */
        SHAPE
    }

    private static final int KEY_START = FrameDescriptor.LENGTH + ExtrasDescriptor.MAX_LENGTH;

    /** The longest key. */
    public static final int MAX_KEY_LENGTH = 250;

    /** Header, extras, and the key at a place of its own. */
    final byte[] bytes = new byte[KEY_START + MAX_KEY_LENGTH];

    private final KeySlice key = new KeySlice();

    private BinaryOperation operation = BinaryOperation.UNKNOWN;
    private Fault fault = Fault.NONE;
    private boolean quiet;
    private int extrasLength;
    private long valueLength;

    /** An empty request. */
    BinaryRequest() {}

    /** A whole header has come. */
    void readHeader() {
        byte opcode = FrameDescriptor.opcode(bytes);
        operation = BinaryOperation.of(opcode);
        quiet = operation.isQuiet(opcode);
        extrasLength = FrameDescriptor.extrasLength(bytes);
        int keyLength = FrameDescriptor.keyLength(bytes);
        key.wrap(bytes, KEY_START, keyLength);
        long bodyLength = FrameDescriptor.bodyLength(bytes);
        if (!FrameDescriptor.isValid(bytes)) {
            fault = Fault.LENGTHS;
        } else if (keyLength > MAX_KEY_LENGTH || !operation.fits(extrasLength, keyLength, bodyLength)) {
            fault = Fault.SHAPE;
        } else {
            fault = Fault.NONE;
        }
        valueLength = bodyLength - extrasLength - keyLength;
    }

    /** What it asks for. */
    public BinaryOperation operation() {
        return operation;
    }

    /** What is wrong with its frame; with any fault the connection cannot go on. */
    public Fault fault() {
        return fault;
    }

    /** True if the expected answer is to be left out. */
    public boolean isQuiet() {
        return quiet;
    }

    /** The opcode as it came. */
    byte opcode() {
        return FrameDescriptor.opcode(bytes);
    }

    /** The client's number, to be repeated. */
    int opaque() {
        return FrameDescriptor.opaque(bytes);
    }

    /** The cas number that the item must have, unsigned; 0 for any. */
    public long cas() {
        return FrameDescriptor.cas(bytes);
    }

    /** The key, of 0 to {@link #MAX_KEY_LENGTH} bytes if there is no fault. */
    public KeySlice key() {
        return key;
    }

    /** Bytes of the extras, of no more than {@link ExtrasDescriptor#MAX_LENGTH} unless the operation is unknown. */
    int extrasLength() {
        return extrasLength;
    }

    /** Bytes behind the key, 0 to 2^32 - 1. */
    public long valueLength() {
        return valueLength;
    }

    /** Flags of set, add and replace; 0 of append and prepend. */
    public int flags() {
        return extrasLength == 0 ? 0 : ExtrasDescriptor.storeFlags(bytes, FrameDescriptor.LENGTH);
    }

    /**
     * Exptime of set, add, replace, touch, gat, flush, increment and decrement. Never negative: 32 bits without a
     * sign. 0 where it may be left out and is.
     */
    public long exptime() {
        int exptime = switch (extrasLength) {
            case ExtrasDescriptor.STORE_LENGTH -> ExtrasDescriptor.storeExptime(bytes, FrameDescriptor.LENGTH);
            case ExtrasDescriptor.ARITHMETIC_LENGTH ->
                ExtrasDescriptor.arithmeticExptime(bytes, FrameDescriptor.LENGTH);
            case ExtrasDescriptor.EXPTIME_LENGTH -> ExtrasDescriptor.exptime(bytes, FrameDescriptor.LENGTH);
            default -> 0;
        };
        return Integer.toUnsignedLong(exptime);
    }

    /** The level of verbosity. */
    public long level() {
        return Integer.toUnsignedLong(ExtrasDescriptor.exptime(bytes, FrameDescriptor.LENGTH));
    }

    /** What increment and decrement add or subtract, unsigned. */
    public long delta() {
        return ExtrasDescriptor.delta(bytes, FrameDescriptor.LENGTH);
    }

    /** What increment and decrement store if there is no item, unsigned. */
    public long initial() {
        return ExtrasDescriptor.initial(bytes, FrameDescriptor.LENGTH);
    }

    /** True if increment and decrement store {@link #initial()} if there is no item. */
    public boolean creates() {
        return ExtrasDescriptor.arithmeticExptime(bytes, FrameDescriptor.LENGTH) != ExtrasDescriptor.CREATE_NOTHING;
    }
}
