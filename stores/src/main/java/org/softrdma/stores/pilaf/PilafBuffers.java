package org.softrdma.stores.pilaf;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.Set;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.connection.RegisteredMemory;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * The client's registered memory. By operation: where READs of entries and of an extent land, its key and its value. By
 * message slot: a request; one more is for HELLO. By RECV: a reply. It outlives connections. Owned by the client's
 * thread, which closes it.
 */
final class PilafBuffers implements AutoCloseable {
    private final int keyLength;
    private final int extentLength;
    private final int operationLength;
    private final int requestLength;
    private final int requestsAt;
    private final int replyLength;
    private final int repliesAt;
    private final RegisteredMemory memory;

    /**
     * Allocates and registers it.
     *
     * @param operations that may be there at a time
     */
    PilafBuffers(VerbsDevice device, ProtectionDomain domain, StoreClientContext context, int operations) {
        int window = context.window();
        keyLength = PilafConnection.aligned(context.maxKeyLength());
        extentLength = PilafExtentDescriptor.length(context.maxKeyLength(), context.maxValueLength());
        operationLength = PilafHash.WAYS * PilafEntryDescriptor.LENGTH
                + extentLength
                + keyLength
                + PilafConnection.aligned(context.maxValueLength());
        requestLength = PilafConnection.requestLength(context.maxKeyLength(), context.maxValueLength());
        replyLength = PilafConnection.replyLength(context.maxValueLength());
        requestsAt = operations * operationLength;
        repliesAt = requestsAt + (window + 1) * requestLength;
        long length = (long) operations * operationLength + (window + 1L) * requestLength + (long) window * replyLength;
        if (length > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("window=" + window + " and maxValueLength=" + context.maxValueLength()
                    + " need " + length + " bytes: expected less than 2^31");
        }
        memory = new RegisteredMemory(
                device,
                domain,
                (int) length,
                Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.READ_SINK, AccessFlag.RECEIVE_SINK));
    }

    MemorySegment segment() {
        return memory.segment();
    }

    ByteBuffer view() {
        return memory.view();
    }

    MemoryRegion region() {
        return memory.region();
    }

    /** Where an entry lands. */
    int entryAt(int operation, int rank) {
        return operation * operationLength + rank * PilafEntryDescriptor.LENGTH;
    }

    /** Where an extent lands. */
    int extentAt(int operation) {
        return entryAt(operation, PilafHash.WAYS);
    }

    /** Bytes of the longest extent. */
    int extentLength() {
        return extentLength;
    }

    int keyAt(int operation) {
        return extentAt(operation) + extentLength;
    }

    int valueAt(int operation) {
        return keyAt(operation) + keyLength;
    }

    int requestAt(int slot) {
        return requestsAt + slot * requestLength;
    }

    int replyAt(int receive) {
        return repliesAt + receive * replyLength;
    }

    /** Bytes of the longest reply. */
    int replyLength() {
        return replyLength;
    }

    /** Keeps the key of an operation. */
    void putKey(int operation, byte[] key) {
        MemorySegment.copy(key, 0, segment(), ValueLayout.JAVA_BYTE, keyAt(operation), key.length);
    }

    @Override
    public void close() {
        memory.close();
    }
}
