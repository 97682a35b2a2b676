package org.softrdma.stores.herd;

import org.jspecify.annotations.Nullable;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.herd.HerdOperation.Phase;
import org.softrdma.stores.herd.transport.HerdChannel;

/** The operations of a client: one more than its window, as one may be in its handler. Owned by the client's thread. */
final class HerdOperations {
    private final HerdOperation[] all;

    HerdOperations(StoreClientContext context) {
        all = new HerdOperation[context.window() + 1];
        for (int i = 0; i < all.length; i++) {
            all[i] = new HerdOperation(i, context.maxKeyLength(), context.maxValueLength());
        }
    }

    int count() {
        return all.length;
    }

    HerdOperation get(int index) {
        return all[index];
    }

    /** One that nobody uses. */
    HerdOperation free() {
        for (HerdOperation operation : all) {
            if (operation.phase == Phase.FREE) {
                return operation;
            }
        }
        throw new IllegalStateException("a handler polls: it must not");
    }

    /** The one that has waited longest of those whose worker has a free slot; null if there is none. */
    @Nullable
    HerdOperation oldestUnsent(HerdSlots slots, HerdChannel channel) {
        HerdOperation oldest = null;
        for (HerdOperation operation : all) {
            if (operation.phase == Phase.UNSENT
                    && (oldest == null || operation.order < oldest.order)
                    && slots.free(operation.worker, channel) != HerdSlots.NOBODY) {
                oldest = operation;
            }
        }
        return oldest;
    }
}
