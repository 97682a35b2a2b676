package org.softrdma.stores.herd;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.softrdma.stores.StoreDesign;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/** The WRITEs and SENDs that a device's queue pairs are given. Whoever holds the baton. */
final class PostedRequests {
    private final List<Posted> posted = new ArrayList<>();

    /** A request. */
    record Posted(String method, long length, int flags) {
        boolean isInline() {
            return (flags & SendFlags.INLINE) != 0;
        }
    }

    /** In their order. */
    List<Posted> all() {
        return posted;
    }

    /** A device whose requests are seen. */
    VerbsDevice of(VerbsDevice device) {
        return seen(VerbsDevice.class, device);
    }

    /** A design whose servers' requests are seen. */
    StoreDesign ofServers(StoreDesign design) {
        return StoreDesign.class.cast(Proxy.newProxyInstance(
                StoreDesign.class.getClassLoader(), new Class<?>[] {StoreDesign.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("serve")) {
                        arguments[0] = of((VerbsDevice) arguments[0]);
                    }
                    return invoke(design, method, arguments);
                }));
    }

    private <T> T seen(Class<T> type, Object target) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    if (method.getName().equals("postWrite") || method.getName().equals("postSend")) {
                        posted.add(new Posted(
                                method.getName(), (long) arguments[3], (int) arguments[arguments.length - 1]));
                    }
                    return wrapped(invoke(target, method, arguments));
                }));
    }

    private static @Nullable Object invoke(Object target, Method method, @Nullable Object @Nullable [] arguments)
            throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private @Nullable Object wrapped(@Nullable Object result) {
        return switch (result) {
            case Connector connector -> seen(Connector.class, connector);
            case Listener listener -> seen(Listener.class, listener);
            case ConnectionRequest request -> seen(ConnectionRequest.class, request);
            case QueuePair queuePair -> seen(QueuePair.class, queuePair);
            case Optional<?> optional -> optional.map(this::wrapped);
            case null, default -> result;
        };
    }
}
