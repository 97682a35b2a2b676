package org.softrdma.net.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;

/** Loops for another service than a device's. */
class ServiceLoopsTest {
    private static final int LOOPS = 3;
    private static final long DEADLINE_S = 10;

    @ParameterizedTest
    @EveryTransport
    void shouldHaveThreadsOfTheServicesNameAndTellWhenEachHasEnded(String kind) throws Exception {
        Semaphore ended = new Semaphore(0);
        Set<String> names = new HashSet<>();
        try (Transport transport =
                TransportKinds.service(kind, "teller", LOOPS, new SocketOptions(0, 0, 0), ended::release)) {
            assertEquals(kind, transport.name());
            for (EventLoop loop : transport.loops()) {
                names.add(
                        StreamSocketTest.call(loop, () -> Thread.currentThread().getName()));
            }
            assertEquals(0, ended.availablePermits());
        }
        assertEquals(LOOPS, names.size());
        assertTrue(names.stream().allMatch(name -> name.startsWith("teller-")), names::toString);
        assertTrue(ended.tryAcquire(LOOPS, DEADLINE_S, TimeUnit.SECONDS));
    }
}
