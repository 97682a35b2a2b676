package org.softrdma.kv.server;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Map;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/** Objects of the simulator of which one method does something else. */
final class Changed {
    /** What the method does instead. */
    interface Instead<T> {
        Object call(T original, Object[] arguments);
    }

    private Changed() {}

    /** The same, but for every method of this name. */
    static <T> T with(Class<T> type, T original, String method, Instead<T> instead) {
        return with(type, original, Map.of(method, instead));
    }

    private static <T> T with(Class<T> type, T original, Map<String, Instead<T>> instead) {
        Object proxy =
                Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
                    Instead<T> change = instead.get(method.getName());
                    if (change != null) {
                        return change.call(original, arguments);
                    }
                    try {
                        return method.invoke(original, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
        return type.cast(proxy);
    }

    /** A device with other listeners. */
    static VerbsDevice listening(VerbsDevice device, Instead<Listener> next) {
        return with(
                VerbsDevice.class,
                device,
                "listen",
                (original, arguments) -> with(
                        Listener.class,
                        original.listen((java.net.InetSocketAddress) arguments[0], (int) arguments[1]),
                        "next",
                        next));
    }

    /** A device that says that it has no private data. */
    static VerbsDevice withoutPrivateData(VerbsDevice device) {
        return with(VerbsDevice.class, device, "capabilities", (original, arguments) -> {
            return original.capabilities().toBuilder().maxPrivateData(0).build();
        });
    }
}
