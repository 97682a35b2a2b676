package org.softrdma.junit;

import java.lang.reflect.Method;
import org.junit.platform.commons.support.ModifierSupport;
import org.junit.platform.commons.support.ReflectionSupport;

/** A static method of a test class that makes something for a test. Any thread. */
final class FactoryMethod {
    private FactoryMethod() {}

    /**
     * Calls it.
     *
     * @param tests class of the test
     * @param name of the method
     * @param type of what it returns
     */
    static <T> T call(Class<?> tests, String name, Class<T> type) {
        Method method = ReflectionSupport.findMethod(tests, name)
                .filter(ModifierSupport::isStatic)
                .filter(found -> type.isAssignableFrom(found.getReturnType()))
                .orElseThrow(() -> new IllegalArgumentException(
                        "no static " + type.getSimpleName() + " " + name + "() in " + tests.getName()));
        return type.cast(ReflectionSupport.invokeMethod(method, null));
    }
}
