package org.softrdma.stores.nessie.worker;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.client.OperationKind;
import org.softrdma.stores.nessie.layout.NessieHash;
import org.softrdma.stores.nessie.worker.NessieOperation.Phase;

/**
 * The operations of a worker: one more than its window, as one may be in its handler, and one for the janitor. Owned by
 * the worker's thread.
 */
final class NessieOperations {
    private final StoreClientContext context;
    private final NessieBuffers buffers;
    private final NessieOperation[] all;
    private long limitNs;

    NessieOperations(StoreClientContext context, NessieBuffers buffers) {
        this.context = context;
        this.buffers = buffers;
        limitNs = context.timeoutNs();
        all = new NessieOperation[count(context)];
        for (int i = 0; i < all.length; i++) {
            all[i] = new NessieOperation(i);
        }
    }

    static int count(StoreClientContext context) {
        return context.window() + 2;
    }

    /** No operation may take longer than that. */
    void limit(long ns) {
        limitNs = Math.min(context.timeoutNs(), ns);
    }

    int count() {
        return all.length;
    }

    NessieOperation get(int index) {
        return all[index];
    }

    /** An operation with what is asked. Its slots are not known yet. */
    NessieOperation start(OperationKind kind, byte[] key, MemorySegment value, long tag) {
        NessieOperation operation = free();
        operation.kind = kind;
        operation.checks = false;
        operation.tag = tag;
        operation.deadlineNs = context.nanoClock().nanoTime() + limitNs;
        operation.keyLength = key.length;
        operation.valueLength = (int) value.byteSize();
        operation.phase = Phase.BEGUN;
        operation.reset();
        int at = buffers.keyAt(operation.index);
        MemorySegment.copy(key, 0, buffers.segment(), ValueLayout.JAVA_BYTE, at, key.length);
        MemorySegment.copy(value, 0, buffers.segment(), (long) at + key.length, value.byteSize());
        operation.hash = NessieHash.of(buffers.segment(), at, key.length);
        return operation;
    }

    private NessieOperation free() {
        for (int i = 0; i < all.length - 1; i++) {
            if (all[i].phase == Phase.FREE) {
                return all[i];
            }
        }
        throw new IllegalStateException("poll() was called from a handler");
    }

    /** The janitor's operation, to look at an entry. It does not look at another one. */
    NessieOperation startCheck(int reference) {
        NessieOperation operation = all[all.length - 1];
        operation.checks = true;
        operation.deadlineNs = context.nanoClock().nanoTime() + limitNs;
        operation.phase = Phase.BEGUN;
        operation.reset();
        operation.ownReference = reference;
        return operation;
    }

    /** True if the janitor looks at an entry. */
    boolean isChecking() {
        return all[all.length - 1].phase != Phase.FREE;
    }

    /** Its result is about to be delivered. */
    void ended(NessieOperation operation) {
        operation.phase = Phase.DELIVERED;
    }

    /** True if somebody waits for its result. */
    static boolean isWaitedFor(NessieOperation operation) {
        return operation.phase != Phase.FREE && operation.phase != Phase.DELIVERED;
    }
}
