package org.softrdma.sanitiser.device;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.softrdma.verbs.AsyncEvent;
import org.softrdma.verbs.AsyncEvent.CompletionQueueEvent;
import org.softrdma.verbs.AsyncEvent.DeviceEvent;
import org.softrdma.verbs.AsyncEvent.QueuePairEvent;
import org.softrdma.verbs.AsyncEvent.SharedReceiveQueueEvent;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.SharedReceiveQueue;

/** The open objects of a device by the provider's objects that they wrap, which events name. Thread-safe. */
final class Wrappers {
    private final Map<Object, Object> byBare = new ConcurrentHashMap<>();

    /** An object was created. */
    void add(Object bare, Object wrapper) {
        byBare.put(bare, wrapper);
    }

    /** An object was closed. */
    void remove(Object bare) {
        byBare.remove(bare);
    }

    /** The same event about the program's object; empty if that is closed. */
    Optional<AsyncEvent> about(AsyncEvent event) {
        return switch (event) {
            case QueuePairEvent(QueuePair bare, QueuePairEvent.Kind kind) ->
                find(bare, QueuePair.class).map(wrapper -> new QueuePairEvent(wrapper, kind));
            case CompletionQueueEvent(CompletionQueue bare) ->
                find(bare, CompletionQueue.class).map(CompletionQueueEvent::new);
            case SharedReceiveQueueEvent(SharedReceiveQueue bare, SharedReceiveQueueEvent.Kind kind) ->
                find(bare, SharedReceiveQueue.class).map(wrapper -> new SharedReceiveQueueEvent(wrapper, kind));
            case DeviceEvent ofDevice -> Optional.of(ofDevice);
        };
    }

    private <T> Optional<T> find(Object bare, Class<T> type) {
        return Optional.ofNullable(byBare.get(bare)).map(type::cast);
    }
}
