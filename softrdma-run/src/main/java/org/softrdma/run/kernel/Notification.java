package org.softrdma.run.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A call that waits for its answer, {@code struct seccomp_notif}; the kernel writes it.
 *
 * <pre>
 *    0  id                          8 bytes
 *    8  thread that calls           4
 *   12  flags                       4
 *   16  number of the call          4
 *   20  architecture                4
 *   24  instruction pointer         8
 *   32  six arguments               8 each
 *   80
 * </pre>
 */
public final class Notification {
    /** Bytes of it. */
    public static final int LENGTH = 80;

    static final int ID_OFFSET = 0;
    static final int THREAD_OFFSET = ID_OFFSET + Long.BYTES;
    static final int NUMBER_OFFSET = THREAD_OFFSET + 2 * Integer.BYTES;
    static final int ARGUMENTS_OFFSET = NUMBER_OFFSET + 2 * Integer.BYTES + Long.BYTES;

    private final MemorySegment bytes;

    /**
     * A view.
     *
     * @param bytes {@link #LENGTH} of them, aligned
     */
    public Notification(MemorySegment bytes) {
        this.bytes = bytes;
    }

    /** The bytes, for whoever fills them. */
    public MemorySegment bytes() {
        return bytes;
    }

    /** By this the kernel knows the call until it is answered. */
    public long id() {
        return bytes.get(ValueLayout.JAVA_LONG, ID_OFFSET);
    }

    /** The thread that calls, as this process numbers it. */
    public int thread() {
        return bytes.get(ValueLayout.JAVA_INT, THREAD_OFFSET);
    }

    /** The number of the call. */
    public int number() {
        return bytes.get(ValueLayout.JAVA_INT, NUMBER_OFFSET);
    }

    /** The argument at an index, 0 to 5. */
    public long argument(int index) {
        return bytes.get(ValueLayout.JAVA_LONG, ARGUMENTS_OFFSET + (long) index * Long.BYTES);
    }
}
