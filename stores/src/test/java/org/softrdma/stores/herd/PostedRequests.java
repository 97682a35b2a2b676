package org.softrdma.stores.herd;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.softrdma.stores.StoreDesign;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.SendWorkRequestList;
import org.softrdma.verbs.UnconnectedQueuePair;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/** The WRITEs and SENDs that a device's queue pairs are given. */
final class PostedRequests {
    private static final Set<String> ONE_BY_ONE = Set.of("postWrite", "postSend", "postSendTo");

    private final List<Posted> posted = new ArrayList<>();
    private int lists;

    /** A request. */
    record Posted(String method, long length, int flags) {
        boolean isInline() {
            return (flags & SendFlags.INLINE) != 0;
        }

        boolean isSignalled() {
            return (flags & SendFlags.SIGNALLED) != 0;
        }
    }

    /** An object whose calls are seen. */
    private record Seeing(PostedRequests by, Object target) implements InvocationHandler {
        @Override
        public @Nullable Object invoke(Object proxy, Method method, @Nullable Object @Nullable [] arguments)
                throws Throwable {
            return by.invoked(target, method, arguments);
        }
    }

    /** In their order. */
    List<Posted> all() {
        return posted;
    }

    /** How many lists were posted, each with one doorbell. */
    int lists() {
        return lists;
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
        return type.cast(
                Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, new Seeing(this, target)));
    }

    private @Nullable Object invoked(Object target, Method method, @Nullable Object @Nullable [] arguments)
            throws Throwable {
        if (arguments != null) {
            if (ONE_BY_ONE.contains(method.getName())) {
                posted.add(new Posted(method.getName(), (long) arguments[3], (int) arguments[arguments.length - 1]));
            } else if (arguments.length == 1 && arguments[0] instanceof SendWorkRequestList list) {
                lists++;
                for (int i = 0; i < list.size(); i++) {
                    SendWorkRequest request = list.get(i);
                    posted.add(
                            new Posted(request.opcode().name(), request.local().totalLength(), request.flags()));
                }
            }
            for (int i = 0; i < arguments.length; i++) {
                arguments[i] = unwrapped(arguments[i]);
            }
        }
        return wrapped(invoke(target, method, arguments));
    }

    /** Devices look into objects of their own. */
    private static @Nullable Object unwrapped(@Nullable Object object) {
        return object != null
                        && Proxy.isProxyClass(object.getClass())
                        && Proxy.getInvocationHandler(object) instanceof Seeing seeing
                ? seeing.target
                : object;
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
            case ProtectionDomain domain -> seen(ProtectionDomain.class, domain);
            case UnconnectedQueuePair queuePair -> seen(UnconnectedQueuePair.class, queuePair);
            case QueuePair queuePair -> seen(QueuePair.class, queuePair);
            case Optional<?> optional -> optional.map(this::wrapped);
            case null, default -> result;
        };
    }
}
