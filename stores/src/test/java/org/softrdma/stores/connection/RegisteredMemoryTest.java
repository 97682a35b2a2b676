package org.softrdma.stores.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.ValueLayout;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.device.VerbsDevice;

/** Memory and its registration come and go together. */
class RegisteredMemoryTest {
    private static final int LENGTH = 10_000;

    @Test
    void shouldRegisterAllOfIt() {
        try (VerbsDevice device = new SoftRdmaProvider().open(Map.of());
                ProtectionDomain domain = device.allocateProtectionDomain();
                RegisteredMemory memory =
                        new RegisteredMemory(device, domain, LENGTH, Set.of(AccessFlag.REMOTE_READ))) {
            assertEquals(LENGTH, memory.segment().byteSize());
            assertEquals(LENGTH, memory.region().length());
            assertEquals(LENGTH, memory.view().capacity());
            assertSame(memory.view(), memory.view());
            for (int i = 0; i < LENGTH; i++) {
                assertEquals(0, memory.view().get(i));
            }
            memory.segment().set(ValueLayout.JAVA_BYTE, LENGTH - 1, (byte) 7);
            assertEquals(7, memory.view().get(LENGTH - 1));
        }
    }

    @Test
    void shouldBeMemoryAllTheSameIfTheDeviceShowsNoneToOtherProcesses() {
        for (String sameHost : List.of("auto", "off")) {
            try (VerbsDevice device = new SoftRdmaProvider().open(Map.of("same-host", sameHost));
                    ProtectionDomain domain = device.allocateProtectionDomain();
                    RegisteredMemory memory =
                            RegisteredMemory.shareable(device, domain, LENGTH, Set.of(AccessFlag.REMOTE_READ))) {
                assertEquals(LENGTH, memory.segment().byteSize());
            }
        }
    }

    /** Of a device that tells what it has allocated. */
    private static VerbsDevice telling(VerbsDevice device, Consumer<HostMemory> told) {
        return (VerbsDevice) Proxy.newProxyInstance(
                VerbsDevice.class.getClassLoader(), new Class<?>[] {VerbsDevice.class}, (proxy, method, arguments) -> {
                    Object result = method.invoke(device, arguments);
                    if (result instanceof HostMemory memory) {
                        told.accept(memory);
                    }
                    return result;
                });
    }

    @Test
    void shouldLeaveNothingIfItCannotBeRegistered() {
        List<HostMemory> allocated = new ArrayList<>();
        try (VerbsDevice device = new SoftRdmaProvider().open(Map.of())) {
            ProtectionDomain closed = device.allocateProtectionDomain();
            closed.close();
            VerbsDevice telling = telling(device, allocated::add);
            Set<AccessFlag> access = Set.of(AccessFlag.REMOTE_READ);
            assertThrows(IllegalStateException.class, () -> new RegisteredMemory(telling, closed, LENGTH, access));
            assertEquals(1, allocated.size());
            assertThrows(IllegalStateException.class, () -> allocated.getFirst().segment(), "it is closed");
        }
    }
}
