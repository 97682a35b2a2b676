package org.softrdma.sim.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.softrdma.sim.peer.TestDevice;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.MemoryWindow;
import org.softrdma.verbs.Reregistration;

/** A device in manual progress belongs to one thread: no other may take memory from it, either. */
class ManualThreadTest {
    private static final int BYTES = 4096;
    private static final Set<AccessFlag> ACCESS = Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.ZERO_BASED);

    @Test
    void shouldLetOnlyItsOwnerTakeMemoryFromIt() {
        try (TestDevice device = new TestDevice("progress", "manual")) {
            MemoryRegion one = device.domain().register(device.memory(BYTES), ACCESS);
            MemoryRegion other = device.domain().register(device.memory(BYTES), ACCESS);
            MemoryWindow window = device.domain().allocateWindow();
            Map<String, Runnable> calls = new LinkedHashMap<>();
            calls.put("swap", () -> one.swap(other));
            calls.put("reregister", () -> one.reregister(Reregistration.ofAccess(Set.of(AccessFlag.LOCAL_WRITE))));
            calls.put("unpin", one::unpin);
            calls.put("close", one::close);
            calls.put("close of the other", other::close);
            calls.put("close of the window", window::close);

            calls.forEach(ManualThreadTest::requireRefused);

            assertEquals(BYTES, one.memory().byteSize(), "nothing has happened");
            calls.values().forEach(Runnable::run);
        }
    }

    private static void requireRefused(String what, Runnable call) {
        Throwable thrown = CompletableFuture.runAsync(
                        call, task -> Thread.ofPlatform().name("another").start(task))
                .handle((nothing, failure) -> failure instanceof CompletionException e ? e.getCause() : failure)
                .join();
        assertNotNull(thrown, what);
        assertInstanceOf(IllegalStateException.class, thrown, what);
        String message = String.valueOf(thrown.getMessage());
        assertTrue(message.contains("manual progress") && message.contains("another"), what + ": " + message);
    }
}
