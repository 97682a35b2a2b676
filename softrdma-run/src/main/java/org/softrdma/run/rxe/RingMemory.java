package org.softrdma.run.rxe;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.ErrorNumber;
import org.softrdma.run.kernel.ProgramKernel;

/**
 * The file that stands for a context: a program maps the parts of it that have its rings, this process all of it. Pages cost nothing until
 * they are touched. A place that was given back is used again for a ring of the same length.
 */
public final class RingMemory {
    /** Bytes of address space: more than the queues of any program take. */
    private static final long LENGTH = 1L << 32;

    private static final int PAGE = 4096;

    private final ProgramKernel kernel;
    private final MemorySegment all;
    private final Map<Long, Deque<Long>> free = new HashMap<>();
    /** The first page is nobody's: a ring at 0 would look like none. */
    private long next = PAGE;

    private boolean closed;

    /**
     * The memory of a file.
     *
     * @param file its descriptor here, which may be closed afterwards
     */
    public RingMemory(ProgramKernel kernel, int file) throws CallRefusedException {
        this.kernel = kernel;
        all = kernel.map(file, LENGTH);
    }

    /**
     * An empty ring.
     *
     * @param elements how many it must take, at least 1
     * @param elementBytes of one
     */
    public RxeRing create(int elements, int elementBytes) throws CallRefusedException {
        int elementLength = RxeRing.elementLength(elementBytes);
        int slots = RxeRing.slots(elements);
        long length = RxeRing.length(slots, elementLength);
        long offset = place(pages(length));
        return RxeRing.begin(offset, all.asSlice(offset, length).fill((byte) 0), slots, elementLength);
    }

    private long place(long length) throws CallRefusedException {
        Deque<Long> places = free.get(length);
        if (places != null && !places.isEmpty()) {
            return places.removeLast();
        }
        if (next + length > LENGTH) {
            throw new CallRefusedException(ErrorNumber.ENOMEM);
        }
        long offset = next;
        next += length;
        return offset;
    }

    /** Takes the place of a ring back. */
    public void free(RxeRing ring) {
        free.computeIfAbsent(pages(ring.bytes().byteSize()), ignored -> new ArrayDeque<>())
                .addLast(ring.offset());
    }

    private static long pages(long length) {
        return Math.ceilDiv(length, PAGE) * PAGE;
    }

    /** Unmaps it here, once. The program's mappings stay. */
    public void close() {
        if (!closed) {
            kernel.unmap(all);
            closed = true;
        }
    }
}
