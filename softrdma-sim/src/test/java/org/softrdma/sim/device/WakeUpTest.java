package org.softrdma.sim.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.sim.peer.TestDevice;
import org.softrdma.verbs.device.VerbsDevice;

/** Threads that wake up the owner of a device. */
@Timeout(value = 1, unit = TimeUnit.MINUTES)
class WakeUpTest {
    private static final int TURNS = 2000;
    /** So long waits an owner whom nobody wakes. */
    private static final long LONG_NS = TimeUnit.SECONDS.toNanos(20);

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    void shouldEndEachWaitOfTheOwner(String transport) throws Exception {
        AtomicInteger asked = new AtomicInteger();
        AtomicInteger answered = new AtomicInteger();
        try (TestDevice device = new TestDevice("progress", "manual", "transport", transport)) {
            Thread asking = Thread.ofPlatform().start(() -> {
                for (int i = 1; i <= TURNS; i++) {
                    asked.set(i);
                    device.device().wakeUp(); // the owner waits, or is about to
                    while (answered.get() < i && !Thread.currentThread().isInterrupted()) {
                        Thread.onSpinWait();
                    }
                }
            });
            try {
                while (answered.get() < TURNS) {
                    long beganNs = System.nanoTime();
                    int ignored = device.device().progress(LONG_NS); // an older wake-up may end it, too
                    assertTrue(System.nanoTime() - beganNs < LONG_NS, () -> "asleep after wake-up " + asked);
                    answered.set(asked.get());
                }
            } finally {
                asking.interrupt();
                asking.join();
            }
        }
        assertEquals(TURNS, asked.get());
    }

    @ParameterizedTest
    @ValueSource(strings = {"engine", "manual"})
    void shouldDoNothingOnceTheDeviceIsClosed(String progress) {
        VerbsDevice device = new SoftRdmaProvider().open(Map.of("progress", progress));
        device.close();
        device.wakeUp();
    }

    @Test
    void shouldNotKeepEnginesFromTheirWork() {
        try (TestDevice device = new TestDevice()) {
            device.device().wakeUp();
            assertEquals(0, device.device().progress(LONG_NS));
        }
    }
}
