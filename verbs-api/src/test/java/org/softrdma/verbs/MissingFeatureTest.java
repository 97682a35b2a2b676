package org.softrdma.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.Mockito.CALLS_REAL_METHODS;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.withSettings;

import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.softrdma.verbs.device.VerbsDevice;

/** What a provider that implements nothing for a feature says to the calls that need it. */
class MissingFeatureTest {
    @Test
    void shouldRefuseWhatAProviderDoesNotHave() {
        MemoryRegion region = real(MemoryRegion.class);
        ProtectionDomain domain = real(ProtectionDomain.class);
        CompletionQueue queue = real(CompletionQueue.class);
        VerbsDevice device = real(VerbsDevice.class);
        Reregistration change = Reregistration.ofAccess(Set.of());
        expectRefused(Feature.REREGISTRATION, () -> region.reregister(change));
        expectRefused(Feature.SHARED_RECEIVE_QUEUES, () -> domain.createSharedReceiveQueue(1, 1));
        expectRefused(Feature.MEMORY_WINDOWS, domain::allocateWindow);
        expectRefused(Feature.QUEUE_RESIZE, () -> queue.resize(1));
        expectRefused(Feature.ASYNC_EVENTS, () -> device.awaitEvent(0));
    }

    private static <T> T real(Class<T> type) {
        return mock(type, withSettings().defaultAnswer(CALLS_REAL_METHODS));
    }

    private static void expectRefused(Feature feature, Executable call) {
        VerbsException refused = assertThrows(VerbsException.class, call, feature.name());
        assertEquals(VerbsErrorCode.NOT_SUPPORTED, refused.code());
        assertTrue(String.valueOf(refused.getMessage()).contains(feature.name()), refused::getMessage);
    }
}
