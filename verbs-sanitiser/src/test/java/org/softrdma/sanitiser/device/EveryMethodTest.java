package org.softrdma.sanitiser.device;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What wraps an object of the API passes on every method, also one whose default would say that the device cannot do it. */
class EveryMethodTest {
    /** Its default is another method of the same object. */
    private static final Set<String> MADE_OF_OTHERS =
            Set.of("public default int org.softrdma.verbs.CompletionQueue.poll(org.softrdma.verbs.WorkCompletion[])");

    @ParameterizedTest
    @ValueSource(
            classes = {
                SanitisedAddressHandle.class,
                SanitisedChannel.class,
                SanitisedCompletionQueue.class,
                SanitisedConnectionRequest.class,
                SanitisedConnector.class,
                SanitisedDevice.class,
                SanitisedDomain.class,
                SanitisedListener.class,
                SanitisedMemory.class,
                SanitisedQueuePair.class,
                SanitisedRegion.class,
                SanitisedSharedReceiveQueue.class,
                SanitisedWindow.class
            })
    void shouldPassOnEveryMethod(Class<?> wrapper) {
        List<String> missing = Arrays.stream(wrapper.getMethods())
                .filter(method -> method.getDeclaringClass().isInterface())
                .filter(method -> !Modifier.isStatic(method.getModifiers()))
                .map(Method::toString)
                .filter(method -> !MADE_OF_OTHERS.contains(method))
                .toList();

        assertEquals(List.of(), missing);
    }
}
