package org.softrdma.sim.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.mockito.Mockito.atLeastOnce;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;
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
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PinningPolicy;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.Reregistration;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.device.VerbsDevice;

/** Reregistration of regions that are locked in RAM. */
class ReregistrationPinningTest {
    private static final int PAGE = 4096;
    private static final int ENOMEM = 12;

    private final PageLocks locks = mock(PageLocks.class);
    private final Transport transport = mock(Transport.class);

    ReregistrationPinningTest() {
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
    void shouldLockTheNewMemoryAndUnlockTheOld() {
        try (VerbsDevice device = device();
                ProtectionDomain domain = device.allocateProtectionDomain();
                HostMemory first = device.allocateMemory(PAGE);
                HostMemory second = device.allocateMemory(PAGE)) {
            try (MemoryRegion region = eager(domain, first)) {
                verify(locks).lock(first.segment().address(), PAGE);
                region.reregister(Reregistration.ofMemory(second.segment()));
                verify(locks, atLeastOnce()).lock(second.segment().address(), PAGE);
                verify(locks, atLeastOnce()).unlock(first.segment().address(), PAGE);
                verify(locks, never()).unlock(second.segment().address(), PAGE);
                assertEquals(PAGE, device.pinningCounters().pinnedBytes());
                region.reregister(Reregistration.ofAccess(Set.of(AccessFlag.LOCAL_WRITE)));
                verify(locks, never()).unlock(second.segment().address(), PAGE);
            }
            verify(locks, atLeastOnce()).unlock(second.segment().address(), PAGE);
            assertEquals(0, device.pinningCounters().pinnedBytes());
        }
    }

    @Test
    void shouldStayAsItWasIfTheNewMemoryCannotBeLocked() {
        try (VerbsDevice device = device();
                ProtectionDomain domain = device.allocateProtectionDomain();
                HostMemory first = device.allocateMemory(PAGE)) {
            HostMemory second = device.allocateMemory(PAGE);
            MemorySegment wanted = second.segment();
            MemoryRegion region = eager(domain, first);
            int key = region.rkey();
            when(locks.lock(wanted.address(), PAGE)).thenReturn(ENOMEM);
            VerbsException refused =
                    assertThrows(VerbsException.class, () -> region.reregister(Reregistration.ofMemory(wanted)));
            assertEquals(VerbsErrorCode.NO_RESOURCES, refused.code());
            assertSame(first.segment(), region.memory());
            assertEquals(key, region.rkey());
            assertEquals(PAGE, device.pinningCounters().registeredBytes());
            second.close();
            assertFalse(wanted.scope().isAlive(), "a refused reregistration still counts");
            verify(locks, never()).unlock(first.segment().address(), PAGE);
            region.close();
            assertEquals(0, device.pinningCounters().pinnedBytes());
        }
    }

    private static MemoryRegion eager(ProtectionDomain domain, HostMemory memory) {
        return domain.register(memory.segment(), Set.of(AccessFlag.REMOTE_READ), PinningPolicy.EAGER);
    }

    private VerbsDevice device() {
        return new SoftRdmaDevice(
                new SoftRdmaContext().conclude().deviceSettings(),
                transport,
                DeviceEnvironment.with(new CountedPageLocks(locks), new MemoryOperations()));
    }
}
