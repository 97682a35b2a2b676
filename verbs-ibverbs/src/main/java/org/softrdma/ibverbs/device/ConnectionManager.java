package org.softrdma.ibverbs.device;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.Feature;

/**
 * The event channel of a device: its ids, by the keys that name them in events, and its thread. The thread acknowledges
 * an event at once, because {@code rdma_destroy_id} waits for that, and hands it to the id's object.
 */
public abstract class ConnectionManager extends ConnectionThread {
    private final Map<Object, CmId> ids = new ConcurrentHashMap<>();

    /** Without ids. */
    protected ConnectionManager() {}

    /** {@code rdma_create_id}, and {@link #adopt}. */
    protected abstract CmId createId();

    /** As {@link #createId}, of a service of datagrams, where the device has {@link Feature#DATAGRAM_SERVICES}. */
    protected CmId createDatagramId() {
        throw new IllegalStateException("a device with " + Feature.DATAGRAM_SERVICES + " must make one");
    }

    /**
     * From now on events reach the id's object.
     *
     * @param id a new id, or the id of a connect request
     * @return {@code id}
     */
    protected final CmId adopt(CmId id) {
        id.whenReleased(() -> ids.remove(id.key(), id));
        ids.put(id.key(), id);
        return id;
    }

    /**
     * Finds the id of an event. If the key is an address, this must come before the acknowledgement: afterwards the
     * address may belong to another id.
     *
     * @param key names its id
     * @param event taken
     * @return delivers the event, on the thread and after the acknowledgement; does nothing if the id is gone
     */
    protected final Runnable delivery(Object key, CmEvent event) {
        CmId id = ids.get(key);
        return id == null ? () -> {} : () -> guarded(() -> id.happened(event));
    }

    /**
     * Finds the listener of a connect request, like {@link #delivery}.
     *
     * @param listenerKey of the listening id; null if unknown
     * @param request adopted
     * @param event taken
     * @return delivers the request, or rejects it if the listener is gone
     */
    protected final Runnable requestDelivery(@Nullable Object listenerKey, CmId request, CmEvent event) {
        CmId listener = listenerKey == null ? null : ids.get(listenerKey);
        return () -> guarded(() -> {
            if (listener == null) {
                request.release();
            } else {
                listener.requested(event, request);
            }
        });
    }
}
