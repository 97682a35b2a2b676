package org.softrdma.sim.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.Test;
import org.softrdma.net.transport.EventLoop;
import org.softrdma.net.transport.Transport;
import org.softrdma.sim.SoftRdmaContext;
import org.softrdma.sim.memory.MemoryOperations;
import org.softrdma.sim.pinning.CountedPageLocks;
import org.softrdma.sim.pinning.PageLocks;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.PinningPolicy;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.device.VerbsDevice;

class EagerRegistrationTest {
    private static final int PAGE = 4096;
    private static final long DEADLINE_SECONDS = 10;

    private final PageLocks locks = mock(PageLocks.class);
    private final Transport transport = mock(Transport.class);

    EagerRegistrationTest() {
        when(locks.pageBytes()).thenReturn(PAGE);
        when(locks.limitBytes()).thenReturn(PageLocks.UNLIMITED);
        when(locks.maxRanges()).thenReturn(Long.MAX_VALUE);
        when(locks.missing()).thenReturn("");
        when(transport.name()).thenReturn("none");
        EventLoop loop = mock(EventLoop.class);
        when(loop.inLoop()).thenReturn(true);
        when(loop.clock()).thenReturn(SystemNanoClock.INSTANCE);
        when(transport.loops()).thenReturn(List.of(loop));
    }

    @Test
    void shouldNotKeepOthersFromTheDomainWhileItPins() {
        try (VerbsDevice device = new SoftRdmaDevice(
                        new SoftRdmaContext().conclude().deviceSettings(),
                        transport,
                        DeviceEnvironment.with(new CountedPageLocks(locks), new MemoryOperations()));
                ProtectionDomain domain = device.allocateProtectionDomain();
                HostMemory memory = device.allocateMemory(PAGE)) {
            when(locks.lock(anyLong(), anyLong())).thenAnswer(call -> {
                registerInAnotherThread(domain, memory);
                return PageLocks.OK;
            });

            domain.register(memory.segment(), Set.of(AccessFlag.REMOTE_READ), PinningPolicy.EAGER)
                    .close();

            assertEquals(1, device.pinningCounters().pins());
        }
    }

    private static void registerInAnotherThread(ProtectionDomain domain, HostMemory memory) {
        CompletableFuture.runAsync(
                        () -> domain.register(memory.segment(), Set.of(AccessFlag.REMOTE_READ), PinningPolicy.OFF)
                                .close(),
                        task -> Thread.ofPlatform().daemon().start(task))
                .orTimeout(DEADLINE_SECONDS, TimeUnit.SECONDS)
                .join();
    }
}
