package org.softrdma.stores.nessie.worker;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Set;
import org.softrdma.stores.connection.RegisteredMemory;
import org.softrdma.stores.nessie.layout.NessieDataDescriptor;
import org.softrdma.stores.nessie.layout.NessieMessageDescriptor;
import org.softrdma.stores.nessie.layout.NessieShape;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * The worker's registered memory. By operation: where words land, what compare-and-swaps have found, notices, where an
 * entry lands, and the entry that it puts, which holds its key in any case. By node: a request and a reply. It
 * outlives connections. Owned by the worker's thread, which closes it.
 */
final class NessieBuffers implements AutoCloseable {
    /** Words of a key, and of one that has to move. */
    static final int WORDS = 2 * NessieShape.MOST_WAYS;

    private static final int WORDS_LENGTH = WORDS * Long.BYTES;
    private static final int TAIL_AT = 2 * WORDS_LENGTH;
    private static final int NOTICES_AT = TAIL_AT + Long.BYTES;
    private static final int STATE_AT = NOTICES_AT + NessieOperation.MOST_REMOVED * Long.BYTES;
    private static final int LANDING_AT = STATE_AT + Long.BYTES;
    private static final int MESSAGES_LENGTH = NessieMessageDescriptor.LENGTH + NessieMessageDescriptor.REPLY_LENGTH;

    /** Of this machine: it is what atomics use. */
    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG;

    private static final ValueLayout.OfLong NOTICE = ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final NessieDataDescriptor data;
    private final int operationLength;
    private final int messagesAt;
    private final RegisteredMemory memory;
    private final MemorySegment segment;
    private final ByteBuffer view;

    /**
     * Allocates and registers it.
     *
     * @param data layout of entries
     * @param operations that may be there at a time
     * @param nodes that it is connected to
     */
    NessieBuffers(VerbsDevice device, ProtectionDomain domain, NessieDataDescriptor data, int operations, int nodes) {
        this.data = data;
        operationLength = LANDING_AT + 2 * data.length();
        long length = (long) operations * operationLength + (long) nodes * MESSAGES_LENGTH;
        if (length > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("window=" + operations + " and entries of " + data.length()
                    + " bytes need " + length + " bytes: expected less than 2^31");
        }
        messagesAt = operations * operationLength;
        memory = new RegisteredMemory(
                device, domain, length, Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.READ_SINK, AccessFlag.RECEIVE_SINK));
        segment = memory.segment();
        view = memory.view();
    }

    MemorySegment segment() {
        return segment;
    }

    ByteBuffer view() {
        return view;
    }

    MemoryRegion region() {
        return memory.region();
    }

    NessieDataDescriptor data() {
        return data;
    }

    /** Where a word lands. */
    int wordAt(int operation, int i) {
        return operation * operationLength + i * Long.BYTES;
    }

    /** A word that has landed. */
    long word(int operation, int i) {
        return segment.get(WORD, wordAt(operation, i));
    }

    /** Where a compare-and-swap puts the word that it has found. */
    int resultAt(int operation, int i) {
        return wordAt(operation, i) + WORDS_LENGTH;
    }

    /** The word that a compare-and-swap has found. */
    long result(int operation, int i) {
        return segment.get(WORD, resultAt(operation, i));
    }

    /** Where the last 8 bytes of an entry land. */
    int tailAt(int operation) {
        return operation * operationLength + TAIL_AT;
    }

    /** The last 8 bytes of an entry that have landed. */
    long tail(int operation) {
        return segment.get(WORD, tailAt(operation));
    }

    /** Puts a notice where it can be sent from; returns where. */
    int putNotice(int operation, int i, long notice) {
        int at = operation * operationLength + NOTICES_AT + i * Long.BYTES;
        segment.set(NOTICE, at, notice);
        return at;
    }

    /** Puts the last byte of an entry where it can be sent from; returns where. */
    int putState(int operation, int state) {
        int at = operation * operationLength + STATE_AT;
        segment.set(ValueLayout.JAVA_BYTE, at, NessieDataDescriptor.lastByte(state));
        return at;
    }

    /** Where an entry lands. */
    int landingAt(int operation) {
        return operation * operationLength + LANDING_AT;
    }

    /** The entry that it puts. */
    int imageAt(int operation) {
        return landingAt(operation) + data.length();
    }

    int keyAt(int operation) {
        return imageAt(operation) + NessieDataDescriptor.KEY_OFFSET;
    }

    int requestAt(int node) {
        return messagesAt + node * MESSAGES_LENGTH;
    }

    int replyAt(int node) {
        return requestAt(node) + NessieMessageDescriptor.LENGTH;
    }

    @Override
    public void close() {
        memory.close();
    }
}
