package org.softrdma.farm.node;

import java.lang.foreign.MemorySegment;
import org.softrdma.farm.memory.ReadVerdict;

/** Says whether a READ has brought what was there at one instant, and takes it. The node's thread. */
@FunctionalInterface
public interface ReadJudge {
    /**
     * Judges it.
     *
     * @param memory that has it
     * @param at where it begins in that memory
     * @param start where it begins in its region
     */
    ReadVerdict judge(MemorySegment memory, long at, long start);
}
