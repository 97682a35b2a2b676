package org.softrdma.kv.binary;

/**
 * Layouts of the extras, which follow the header ({@link FrameDescriptor}). Big endian, not aligned. The client writes
 * those of requests, the server those of answers.
 *
 * <pre>
 *  set, add, replace (8 bytes)            increment, decrement (20 bytes)
 * +------------------------------------+ +------------------------------------+
 * | flags                              | | delta                              |   0
 * +------------------------------------+ |                                    |
 * | exptime                            | +------------------------------------+
 * +------------------------------------+ | value of an item that is not there |   8
 *                                        |                                    |
 *  touch, gat, flush: exptime            +------------------------------------+
 *  verbosity: the level                  | exptime of such an item;           |  16
 *  answers of get, gat, touch: flags     | all ones: do not create one        |
 *  (4 bytes each)                        +------------------------------------+
 * </pre>
 */
public final class ExtrasDescriptor {
    /** Exptime of increment and decrement that creates no item. */
    public static final int CREATE_NOTHING = -1;

    /** Bytes of the extras of touch, gat and flush: an exptime. And of verbosity: a level. */
    public static final int EXPTIME_LENGTH = Integer.BYTES;

    /** Bytes of the extras of an answer with an item: its flags. */
    public static final int FLAGS_LENGTH = Integer.BYTES;

    private static final int STORE_FLAGS_OFFSET = 0;
    private static final int STORE_EXPTIME_OFFSET = STORE_FLAGS_OFFSET + Integer.BYTES;

    /** Bytes of the extras of set, add and replace. */
    public static final int STORE_LENGTH = STORE_EXPTIME_OFFSET + Integer.BYTES;

    private static final int DELTA_OFFSET = 0;
    private static final int INITIAL_OFFSET = DELTA_OFFSET + Long.BYTES;
    private static final int ARITHMETIC_EXPTIME_OFFSET = INITIAL_OFFSET + Long.BYTES;

    /** Bytes of the extras of increment and decrement. */
    public static final int ARITHMETIC_LENGTH = ARITHMETIC_EXPTIME_OFFSET + Integer.BYTES;

    /** The longest extras that any operation takes. */
    public static final int MAX_LENGTH = ARITHMETIC_LENGTH;

    private ExtrasDescriptor() {}

    /** Flags of set, add and replace. */
    static int storeFlags(byte[] frame, int extras) {
        return (int) FrameDescriptor.INT.get(frame, extras + STORE_FLAGS_OFFSET);
    }

    /** Exptime of set, add and replace, unsigned. */
    static int storeExptime(byte[] frame, int extras) {
        return (int) FrameDescriptor.INT.get(frame, extras + STORE_EXPTIME_OFFSET);
    }

    /** Exptime of touch, gat and flush, unsigned; the level of verbosity. */
    static int exptime(byte[] frame, int extras) {
        return (int) FrameDescriptor.INT.get(frame, extras);
    }

    static long delta(byte[] frame, int extras) {
        return (long) FrameDescriptor.LONG.get(frame, extras + DELTA_OFFSET);
    }

    static long initial(byte[] frame, int extras) {
        return (long) FrameDescriptor.LONG.get(frame, extras + INITIAL_OFFSET);
    }

    static int arithmeticExptime(byte[] frame, int extras) {
        return (int) FrameDescriptor.INT.get(frame, extras + ARITHMETIC_EXPTIME_OFFSET);
    }

    /** Writes the extras of an answer with an item. */
    static void writeFlags(byte[] frame, int extras, int flags) {
        FrameDescriptor.INT.set(frame, extras, flags);
    }
}
