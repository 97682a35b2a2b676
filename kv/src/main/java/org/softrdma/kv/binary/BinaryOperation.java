package org.softrdma.kv.binary;

import java.util.Arrays;

/**
 * What a request asks for, with the shape that its frame must have: which extras, whether a key, whether a value. The
 * quiet form of an operation has an opcode of its own and leaves out the answer that is expected: a miss of get and
 * gat, otherwise success.
 */
public enum BinaryOperation {
    GET(0x00, 0x09, 0, Key.NEEDED, false),
    SET(0x01, 0x11, ExtrasDescriptor.STORE_LENGTH, Key.NEEDED, true),
    ADD(0x02, 0x12, ExtrasDescriptor.STORE_LENGTH, Key.NEEDED, true),
    REPLACE(0x03, 0x13, ExtrasDescriptor.STORE_LENGTH, Key.NEEDED, true),
    DELETE(0x04, 0x14, 0, Key.NEEDED, false),
    INCREMENT(0x05, 0x15, ExtrasDescriptor.ARITHMETIC_LENGTH, Key.NEEDED, false),
    DECREMENT(0x06, 0x16, ExtrasDescriptor.ARITHMETIC_LENGTH, Key.NEEDED, false),
    QUIT(0x07, 0x17, 0, Key.NONE, false),
    /** Its extras, an exptime, may be left out. */
    FLUSH(0x08, 0x18, ExtrasDescriptor.EXPTIME_LENGTH, Key.NONE, false),
    NOOP(0x0a, BinaryOperation.NO_QUIET_FORM, 0, Key.NONE, false),
    VERSION(0x0b, BinaryOperation.NO_QUIET_FORM, 0, Key.NONE, false),
    GETK(0x0c, 0x0d, 0, Key.NEEDED, false),
    APPEND(0x0e, 0x19, 0, Key.NEEDED, true),
    PREPEND(0x0f, 0x1a, 0, Key.NEEDED, true),
    STAT(0x10, BinaryOperation.NO_QUIET_FORM, 0, Key.POSSIBLE, false),
    VERBOSITY(0x1b, BinaryOperation.NO_QUIET_FORM, ExtrasDescriptor.EXPTIME_LENGTH, Key.NONE, false),
    TOUCH(0x1c, BinaryOperation.NO_QUIET_FORM, ExtrasDescriptor.EXPTIME_LENGTH, Key.NEEDED, false),
    GAT(0x1d, 0x1e, ExtrasDescriptor.EXPTIME_LENGTH, Key.NEEDED, false),
    SASL_LIST(0x20, BinaryOperation.NO_QUIET_FORM, 0, Key.NONE, false),
    /** Its key is the mechanism, its value what the client says first. */
    SASL_AUTH(0x21, BinaryOperation.NO_QUIET_FORM, 0, Key.NEEDED, true),
    SASL_STEP(0x22, BinaryOperation.NO_QUIET_FORM, 0, Key.NEEDED, true),
    GATK(0x23, 0x24, ExtrasDescriptor.EXPTIME_LENGTH, Key.NEEDED, false),
    /** Any other opcode: whatever its body is, it is skipped. */
    UNKNOWN(BinaryOperation.NO_OPCODE, BinaryOperation.NO_QUIET_FORM, 0, Key.POSSIBLE, false);

    private enum Key {
        NONE,
        POSSIBLE,
        NEEDED
    }

    private static final int NO_OPCODE = -1;
    private static final int NO_QUIET_FORM = -1;

    private static final BinaryOperation[] BY_OPCODE = new BinaryOperation[1 << Byte.SIZE];

    static {
        Arrays.fill(BY_OPCODE, UNKNOWN);
        for (BinaryOperation each : values()) {
            if (each.opcode != NO_OPCODE) {
                BY_OPCODE[each.opcode] = each;
            }
            if (each.quietOpcode != NO_QUIET_FORM) {
                BY_OPCODE[each.quietOpcode] = each;
            }
        }
    }

    private final int opcode;
    private final int quietOpcode;
    private final int extrasLength;
    private final Key key;
    private final boolean value;

    BinaryOperation(int opcode, int quietOpcode, int extrasLength, Key key, boolean value) {
        this.opcode = opcode;
        this.quietOpcode = quietOpcode;
        this.extrasLength = extrasLength;
        this.key = key;
        this.value = value;
    }

    /** The operation that an opcode stands for. */
    static BinaryOperation of(byte opcode) {
        return BY_OPCODE[Byte.toUnsignedInt(opcode)];
    }

    /** True if an opcode of this operation is the quiet one. */
    boolean isQuiet(byte code) {
        return Byte.toUnsignedInt(code) == quietOpcode;
    }

    /** The opcode of the form that always answers. */
    public byte opcode() {
        return (byte) opcode;
    }

    /** True if there is a quiet form. */
    public boolean hasQuietForm() {
        return quietOpcode != NO_QUIET_FORM;
    }

    /** The opcode of the quiet form. */
    public byte quietOpcode() {
        if (!hasQuietForm()) {
            throw new IllegalStateException(this + " has no quiet form");
        }
        return (byte) quietOpcode;
    }

    /** Bytes of its extras. */
    public int extrasLength() {
        return extrasLength;
    }

    /** True if a key may follow the extras. */
    public boolean hasKey() {
        return key != Key.NONE;
    }

    /** True if a value may follow the key. */
    public boolean hasValue() {
        return value;
    }

    /** True if a frame of these lengths, which fit into each other, is one of this operation. */
    boolean fits(int extras, int keyBytes, long body) {
        if (this == UNKNOWN) {
            return true;
        }
        boolean extrasFit = extras == extrasLength || (this == FLUSH && extras == 0);
        boolean keyFits = key == Key.POSSIBLE || (key == Key.NEEDED) == (keyBytes > 0);
        return extrasFit && keyFits && (value || body == (long) extras + keyBytes);
    }
}
