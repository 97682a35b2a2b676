package org.softrdma.stores.herd;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.client.ClientOperations;
import org.softrdma.stores.herd.HerdOperation.Phase;
import org.softrdma.stores.herd.transport.HerdChannel;

/** The operations of a client, and which of them waits for a slot. Owned by the client's thread. */
final class HerdOperations extends ClientOperations<HerdOperation> {
    HerdOperations(StoreClientContext context) {
        super(made(context));
    }

    private static HerdOperation[] made(StoreClientContext context) {
        HerdOperation[] all = new HerdOperation[context.window() + 1];
        Arrays.setAll(all, index -> new HerdOperation(index, context.maxKeyLength(), context.maxValueLength()));
        return all;
    }

    /** The one that has waited longest of those whose worker has a free slot; null if there is none. */
    @Nullable
    HerdOperation oldestUnsent(HerdSlots slots, HerdChannel channel) {
        HerdOperation oldest = null;
        for (int i = 0; i < count(); i++) {
            HerdOperation operation = get(i);
            if (operation.isIn(Phase.UNSENT)
                    && (oldest == null || operation.order() < oldest.order())
                    && slots.free(operation.worker, channel) != HerdSlots.NOBODY) {
                oldest = operation;
            }
        }
        return oldest;
    }
}
