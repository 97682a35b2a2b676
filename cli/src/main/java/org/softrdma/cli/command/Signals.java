package org.softrdma.cli.command;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Signals that the JVM leaves to programs, by the class that it has for them: named at run time only, because the
 * compiler warns of each mention. No state.
 */
public final class Signals {
    private static final Logger LOG = LoggerFactory.getLogger(Signals.class);

    private Signals() {}

    /**
     * Runs a task for each signal of a name, on a thread of the JVM; where there are no signals, never.
     *
     * @param name without SIG
     * @param task run by a thread of its own
     */
    public static void handle(String name, Runnable task) {
        try {
            Class<?> signal = Class.forName("sun.misc.Signal");
            Class<?> handler = Class.forName("sun.misc.SignalHandler");
            InvocationHandler calls = (proxy, method, arguments) -> switch (method.getName()) {
                case "handle" -> {
                    LOG.info("SIG{} has come", name);
                    task.run();
                    yield null;
                }
                case "equals" -> proxy == arguments[0];
                case "hashCode" -> System.identityHashCode(proxy);
                default -> "SIG" + name;
            };
            Object made = Proxy.newProxyInstance(Signals.class.getClassLoader(), new Class<?>[] {handler}, calls);
            signal.getMethod("handle", signal, handler)
                    .invoke(null, signal.getConstructor(String.class).newInstance(name), made);
        } catch (ReflectiveOperationException e) {
            LOG.warn("SIG{} is ignored: {}", name, e.toString());
        }
    }
}
