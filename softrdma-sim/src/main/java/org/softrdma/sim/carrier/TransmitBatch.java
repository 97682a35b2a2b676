package org.softrdma.sim.carrier;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.net.transport.IoVectors;
import org.softrdma.sim.memory.Binding;
import org.softrdma.sim.memory.MemoryOperations;
import org.softrdma.sim.memory.StagTable;
import org.softrdma.sim.wire.MessageKind;

/**
 * The segments of one send call: headers, trailers and small payloads are staged in one buffer, large payloads are
 * gathered from where they are. Adjacent staged bytes share an entry, so a batch of small segments is one piece of
 * memory, and a large segment needs only entries for header and payload. The connections of an engine fill one at a time;
 * several may be under way ({@link StreamBuffers#leave}). Engine thread.
 */
public final class TransmitBatch {
    private static final int MAX_SEGMENTS = 256;
    /** A segment needs at most this many entries besides those of its payload. */
    private static final int SPARE_ENTRIES = 4;

    private static final int NO_ROW = -1;

    private final MemorySegment staging;
    private final ByteBuffer stagingView;
    private final IoVectors vectors;
    private final Binding[] bindings = new Binding[IoVectors.MAX_ENTRIES];
    /** The row where the binding of an entry is looked up if it is needed, or {@link #NO_ROW}. */
    private final int[] rows = new int[IoVectors.MAX_ENTRIES];

    private final MessageKind[] kinds = new MessageKind[MAX_SEGMENTS];
    private final long[] sequences = new long[MAX_SEGMENTS];
    private final long[] offsetsBefore = new long[MAX_SEGMENTS];
    private final boolean[] lasts = new boolean[MAX_SEGMENTS];
    private final long[] ends = new long[MAX_SEGMENTS];
    private final Binding[] messageBindings = new Binding[MAX_SEGMENTS];

    private final long stagingEnd;
    private long stagingCursor;
    private int entries;
    private int segments;
    private long total;

    TransmitBatch(MemoryOperations memory, int stagingBytes) {
        staging = memory.allocate(stagingBytes, Long.BYTES);
        stagingEnd = staging.address() + stagingBytes;
        stagingView = staging.asByteBuffer();
        vectors = new IoVectors(memory, IoVectors.MAX_ENTRIES);
    }

    void begin() {
        stagingCursor = staging.address();
        entries = 0;
        segments = 0;
        total = 0;
    }

    boolean isEmpty() {
        return entries == 0;
    }

    /** True if memory between two addresses is gathered. */
    boolean overlaps(long from, long to) {
        for (int i = 0; i < entries; i++) {
            if (vectors.base(i) < to && vectors.base(i) + vectors.length(i) > from) {
                return true;
            }
        }
        return false;
    }

    /**
     * True if a segment fits.
     *
     * @param staged bytes it stages, header, pad and CRC field included
     * @param pieces pieces of payload it gathers
     */
    boolean hasRoom(int staged, int pieces) {
        return segments < MAX_SEGMENTS
                && entries + pieces + SPARE_ENTRIES <= IoVectors.MAX_ENTRIES
                && staged <= stagingEnd - stagingCursor;
    }

    /**
     * Takes bytes of the staging buffer, behind everything added so far. The caller fills them, and has checked
     * {@link #hasRoom}.
     */
    long stage(int length) {
        if (length <= 0 || length > stagingEnd - stagingCursor) {
            throw new IllegalStateException(
                    "length=" + length + " of staged bytes: expected 1 to " + (stagingEnd - stagingCursor));
        }
        long address = stagingCursor;
        int previous = entries - 1;
        if (previous >= 0 && vectors.base(previous) + vectors.length(previous) == address) {
            vectors.set(previous, vectors.base(previous), vectors.length(previous) + length);
        } else {
            addEntry(address, length, null, NO_ROW);
        }
        stagingCursor += length;
        total += length;
        return address;
    }

    /** Gathers memory from where it is. */
    void gather(long address, long length, Binding binding) {
        if (length <= 0) {
            throw new IllegalStateException("length=" + length + " of gathered bytes");
        }
        addEntry(address, length, binding, NO_ROW);
        total += length;
    }

    /** Gathers memory from where it is. Its binding is looked up only if the kernel does not take all of it. */
    void gather(long address, long length, int row) {
        if (length <= 0) {
            throw new IllegalStateException("length=" + length + " of gathered bytes");
        }
        addEntry(address, length, null, row);
        total += length;
    }

    private void addEntry(long address, long length, @Nullable Binding binding, int row) {
        vectors.set(entries, address, length);
        bindings[entries] = binding;
        rows[entries] = row;
        entries++;
    }

    /**
     * Ends a segment: everything staged and gathered since the last one.
     *
     * @param kind what it is
     * @param sequence of its request
     * @param offsetBefore bytes of its message sent before it
     * @param last last segment of its message
     * @param messageBinding what a message of several segments is read from
     */
    void endSegment(
            MessageKind kind, long sequence, long offsetBefore, boolean last, @Nullable Binding messageBinding) {
        kinds[segments] = kind;
        sequences[segments] = sequence;
        offsetsBefore[segments] = offsetBefore;
        lasts[segments] = last;
        ends[segments] = total;
        messageBindings[segments] = messageBinding;
        segments++;
    }

    /** The pieces of memory; scratch between two batches. */
    public IoVectors vectors() {
        return vectors;
    }

    int entries() {
        return entries;
    }

    long total() {
        return total;
    }

    int segments() {
        return segments;
    }

    MessageKind kind(int segment) {
        return kinds[segment];
    }

    long sequence(int segment) {
        return sequences[segment];
    }

    long offsetBefore(int segment) {
        return offsetsBefore[segment];
    }

    boolean isLast(int segment) {
        return lasts[segment];
    }

    @Nullable
    Binding messageBinding(int segment) {
        return messageBindings[segment];
    }

    /** Bytes from the start of the batch to the end of a segment. */
    long end(int segment) {
        return ends[segment];
    }

    ByteBuffer stagingView() {
        return stagingView;
    }

    long stagingAddress() {
        return staging.address();
    }

    /**
     * What an entry is gathered from, or null if it is staged.
     *
     * @param entry of {@link #vectors}
     * @param address in it
     * @param stags where a row is looked up, in the epoch of the batch
     */
    @Nullable
    Binding binding(int entry, long address, StagTable stags) {
        return rows[entry] == NO_ROW ? bindings[entry] : stags.bindingOf(rows[entry], address);
    }

    /** Zero bytes for pad and CRC field. */
    void stageZeros(int length) {
        long address = stage(length);
        for (int i = 0; i < length; i++) {
            NativeMemory.putByte(address + i, 0);
        }
    }
}
