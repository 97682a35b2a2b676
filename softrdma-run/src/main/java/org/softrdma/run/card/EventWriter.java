package org.softrdma.run.card;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.softrdma.run.kernel.Architecture;
import org.softrdma.run.kernel.LinuxCall;
import org.softrdma.run.kernel.MemoryPause;
import org.softrdma.run.kernel.RawCalls;

/**
 * Writes events into pipes. One that is full, since its program does not read, takes no more of them; one that nobody reads takes none.
 * One thread at a time.
 */
public final class EventWriter {
    private static final int MOST = 2 * Long.BYTES;

    private final RawCalls calls;
    private final MemorySegment event;

    /** For pipes of this process. */
    public EventWriter(Architecture architecture) {
        Arena arena = Arena.ofAuto();
        calls = new RawCalls(architecture, arena);
        event = arena.allocate(MOST, Long.BYTES);
    }

    /** {@code struct ib_uverbs_comp_event_desc}: how the program knows the queue. */
    boolean completion(int writingEnd, long cookie) {
        return write(writingEnd, cookie, 0, Long.BYTES);
    }

    /** {@code struct ib_uverbs_async_event_desc}: how the program knows the object, what has happened. */
    public boolean asynchronous(int writingEnd, long cookie, int kind) {
        return write(writingEnd, cookie, kind, MOST);
    }

    /** A word. */
    public boolean word(int writingEnd, long word) {
        return write(writingEnd, word, 0, Long.BYTES);
    }

    private boolean write(int writingEnd, long first, long second, int length) {
        event.set(ValueLayout.JAVA_LONG, 0, first);
        event.set(ValueLayout.JAVA_LONG, Long.BYTES, second);
        for (int i = 0; i < MemoryPause.MOST; i++) { // a program would wait for good for an event that was lost
            try {
                return calls.call(LinuxCall.WRITE, writingEnd, event.address(), length) == length;
            } catch (OutOfMemoryError e) {
                MemoryPause.pause();
            }
        }
        return false;
    }
}
