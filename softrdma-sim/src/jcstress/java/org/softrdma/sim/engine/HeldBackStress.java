package org.softrdma.sim.engine;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.softrdma.sim.memory.MemoryOperations;

/**
 * The held-back word: an engine places a message of two words and three bytes, a poller reads the last word by
 * acquire, then the bytes behind it and the first word. 0 is old, 1 is new, 2 a mixture.
 */
@JCStressTest
@Outcome(id = "0, [01], [01]", expect = Expect.ACCEPTABLE, desc = "The last word is not there; the rest may be.")
@Outcome(id = "1, 1, 1", expect = Expect.ACCEPTABLE, desc = "The last word is there, and all of the message.")
@Outcome(expect = Expect.FORBIDDEN, desc = "The last word without the message, or a word in part.")
@State
public class HeldBackStress {
    private static final int SLOT = 64;
    /** More than states that live at once. */
    private static final int SLOTS = 1 << 20;

    private static final int MESSAGE = 19;
    private static final int LAST_WORD = 8;
    private static final int BEHIND = 16;
    private static final int KEPT = 32;
    private static final MemorySegment SLAB = Arena.global().allocate((long) SLOT * SLOTS, SLOT);
    private static final MemorySegment SOURCE =
            Arena.global().allocate(MESSAGE, Long.BYTES).fill((byte) 1);
    private static final AtomicInteger NEXT = new AtomicInteger();
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
    private static final long NEW = 0x0101_0101_0101_0101L;

    private final MemorySegment memory = SLAB.asSlice((long) SLOT * (NEXT.getAndIncrement() & (SLOTS - 1)), SLOT)
            .fill((byte) 0);
    private final HeldBack held = new HeldBack(new MemoryOperations() {
        @Override
        public MemorySegment allocate(long length, long alignment, Arena arena) {
            return memory.asSlice(KEPT, length);
        }
    });

    /** Made by jcstress. */
    public HeldBackStress() {}

    /** The engine. */
    @Actor
    public void engine() {
        held.put(SOURCE.address(), memory.address(), MESSAGE);
        held.release();
    }

    /** The application. */
    @Actor
    public void poller(III_Result result) {
        result.r1 = state((long) WORD.getAcquire(memory, (long) LAST_WORD));
        result.r2 = memory.get(ValueLayout.JAVA_BYTE, BEHIND + 2);
        result.r3 = state((long) WORD.getOpaque(memory, 0L));
    }

    private static int state(long word) {
        if (word == 0) {
            return 0;
        }
        return word == NEW ? 1 : 2;
    }
}
