package org.softrdma.farm.table;

import org.softrdma.farm.memory.FarmObjectDescriptor;
import org.softrdma.farm.memory.ObjectImage;

/**
 * A pair outside of the table, as an object of its own; little endian.
 *
 * <pre>
 *  63                            32 31            16 15             0
 * +-----------------------------------------------------------------+
 * |  header of the object                                           |   0
 * +--------------------------------+---------------+----------------+
 * |  value length                  |       0       |  key length    |  16
 * +--------------------------------+---------------+----------------+
 * |  key, value                                                     |  24
 * +-----------------------------------------------------------------+
 * </pre>
 */
public final class FarmPairDescriptor {
    /** Where the length of the key is. */
    public static final int KEY_LENGTH_OFFSET = FarmObjectDescriptor.PAYLOAD_OFFSET;

    /** Where the length of the value is. */
    public static final int VALUE_LENGTH_OFFSET = KEY_LENGTH_OFFSET + Integer.BYTES;

    /** Where the key is. */
    public static final int KEY_OFFSET = VALUE_LENGTH_OFFSET + Integer.BYTES;

    private FarmPairDescriptor() {}

    /** Bytes of header and payload. */
    public static int length(int keyLength, int valueLength) {
        return KEY_OFFSET + keyLength + valueLength;
    }

    /** Bytes of the key. */
    public static int keyLength(ObjectImage image) {
        return image.getInt(KEY_LENGTH_OFFSET);
    }

    /** Bytes of the value. */
    public static int valueLength(ObjectImage image) {
        return image.getInt(VALUE_LENGTH_OFFSET);
    }

    /** True if the lengths are those of an object of this length: they may be of no pair at all. */
    public static boolean isValid(ObjectImage image) {
        int key = keyLength(image);
        int value = valueLength(image);
        return key >= 0 && value >= 0 && (long) KEY_OFFSET + key + value == image.length();
    }
}
