package org.softrdma.run.rxe;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * What a request that binds a memory window has behind the fields of {@link SendElement}, in the machine's order.
 *
 * <pre>
 *    24  address (8)                      44  key of the window until now (4)
 *    32  length (8)                       48  key of the window from then on (4)
 *    40  lkey of the region (4)           52  rights (4)
 * </pre>
 *
 * @param address first one, as the region's key names it
 * @param length bytes
 * @param lkey of the region; 0 for none
 * @param window key that it has had
 * @param key that it will have
 * @param access rights, as verbs number them
 */
public record BindElement(long address, long length, int lkey, int window, int key, int access) {
    private static final int OPERATION = 8;
    private static final int ADDRESS_OFFSET = 24;
    private static final int LENGTH_OFFSET = ADDRESS_OFFSET + Long.BYTES;
    private static final int LKEY_OFFSET = LENGTH_OFFSET + Long.BYTES;
    private static final int WINDOW_OFFSET = LKEY_OFFSET + Integer.BYTES;
    private static final int KEY_OFFSET = WINDOW_OFFSET + Integer.BYTES;
    private static final int ACCESS_OFFSET = KEY_OFFSET + Integer.BYTES;

    /** True if a request binds a window. */
    public static boolean isOne(MemorySegment ring, long at) {
        return SendElement.operation(ring, at) == OPERATION;
    }

    /** Reads one, each field once. */
    public static BindElement read(MemorySegment ring, long at) {
        return new BindElement(
                ring.get(ValueLayout.JAVA_LONG, at + ADDRESS_OFFSET),
                ring.get(ValueLayout.JAVA_LONG, at + LENGTH_OFFSET),
                ring.get(ValueLayout.JAVA_INT, at + LKEY_OFFSET),
                ring.get(ValueLayout.JAVA_INT, at + WINDOW_OFFSET),
                ring.get(ValueLayout.JAVA_INT, at + KEY_OFFSET),
                ring.get(ValueLayout.JAVA_INT, at + ACCESS_OFFSET));
    }
}
