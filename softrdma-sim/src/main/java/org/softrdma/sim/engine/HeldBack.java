package org.softrdma.sim.engine;

import java.lang.foreign.MemorySegment;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.sim.memory.MemoryOperations;

/**
 * The end of a message on its way into polled memory, held back until the message is complete, so that its last word
 * is stored last ({@link org.softrdma.verbs.MemoryRegion#coherentUnit()}).
 *
 * <p>Algorithm: a message comes in parts, cut anywhere, and only its end tells which part was the last. So of all that
 * has come the bytes from the last whole aligned word on are kept, at most a word and 7 bytes behind it; what comes
 * next completes words, and those before the new last one are placed. A range without a whole word is kept whole: it
 * has at most 14 bytes. {@link #release} places what is kept: bytes behind the word first, then the word. A message
 * that never ends leaves its last word unplaced.
 *
 * <pre>
 *   came         |......12|34567812|34567812|345.....|     | are the borders of aligned words
 *   placed        ......^^ ^^^^^^^^
 *   kept                            ^^^^^^^^ ^^^
 * </pre>
 *
 * <p>The owner says when memory may be written. Engine thread only.
 */
final class HeldBack {
    private static final int WORD = Long.BYTES;
    private static final int MOST_BYTES = 2 * WORD;

    private final MemoryOperations memory;
    /** Of {@link #MOST_BYTES} from the first polled message on. */
    private MemorySegment kept = MemorySegment.NULL;
    /** Where the first byte that is kept goes. */
    private long address;

    private int length;

    HeldBack(MemoryOperations memory) {
        this.memory = memory;
    }

    /** Bytes that are kept, at most 15. */
    int length() {
        return length;
    }

    /** Raw address behind what is kept. */
    long end() {
        return address + length;
    }

    /**
     * Takes the next part of a message. It goes behind what is kept.
     *
     * @param source address of its bytes
     * @param target where they go, memory that may be written; {@link #end} unless nothing is kept
     * @param bytes how many, at least 1
     */
    void put(long source, long target, int bytes) {
        if (length == 0) {
            address = target;
        }
        long end = target + bytes;
        long keepFrom = lastWord(address, end);
        long from = source;
        long to = target;
        if (length > 0 && keepFrom > address) {
            int toBorder = (int) (-to & (WORD - 1));
            keep(from, toBorder);
            from += toBorder;
            to += toBorder;
            place((int) (Math.min(keepFrom, to) - address));
        }
        if (keepFrom > to) {
            memory.copyToPolled(from, to, keepFrom - to);
            from += keepFrom - to;
            to = keepFrom;
            address = keepFrom;
        }
        keep(from, (int) (end - to));
    }

    /** The last word that lies wholly in a range, or the beginning of the range if none does. */
    private static long lastWord(long from, long end) {
        long word = (end & -WORD) - WORD;
        return word >= ((from + WORD - 1) & -WORD) ? word : from;
    }

    private void keep(long source, int bytes) {
        if (kept.byteSize() == 0) {
            kept = memory.allocate(MOST_BYTES, WORD);
        }
        NativeMemory.copy(source, kept.address() + length, bytes);
        length += bytes;
    }

    /** Places the first bytes of what is kept, up to the beginning of a word. */
    private void place(int bytes) {
        memory.copyToPolled(kept.address(), address, bytes);
        address += bytes;
        length -= bytes;
        NativeMemory.copy(kept.address() + bytes, kept.address(), length);
    }

    /** The message is complete: places what is kept, the last word last. The memory may be written. */
    void release() {
        int last = length;
        length = 0;
        memory.publish(kept.address(), address, last);
    }

    /** The memory may not be written any more. */
    void drop() {
        length = 0;
    }
}
