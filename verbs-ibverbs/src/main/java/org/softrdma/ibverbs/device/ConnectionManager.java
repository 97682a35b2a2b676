package org.softrdma.ibverbs.device;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The event channel of a device: its ids by the keys that events name them by, and the thread, which acknowledges an
 * event at once (else {@code rdma_destroy_id} waits for ever) and hands it to the id's object.
 */
public abstract class ConnectionManager extends ConnectionThread {
    private final Map<Object, CmId> ids = new ConcurrentHashMap<>();

    /** Without ids. */
    protected ConnectionManager() {}

    /** {@code rdma_create_id}, and {@link #adopt}. */
    protected abstract CmId createId();

    /**
     * From now on events reach the id's object.
     *
     * @param id new, or brought by a connect request
     * @return {@code id}
     */
    protected final CmId adopt(CmId id) {
        id.whenReleased(() -> ids.remove(id.key(), id));
        ids.put(id.key(), id);
        return id;
    }

    /**
     * Finds whom an event is about. If the key is an address, before the acknowledgement: after it that may be
     * another's.
     *
     * @param key of its id
     * @param event taken
     * @return hands it over, on the thread once it is acknowledged; nothing if the id has gone
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
     * @return hands it over, or rejects it if the listener has gone
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
