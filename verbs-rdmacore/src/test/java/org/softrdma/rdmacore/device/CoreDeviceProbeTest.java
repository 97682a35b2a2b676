package org.softrdma.rdmacore.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.softrdma.rdmacore.abi.AbiMismatchException;
import org.softrdma.rdmacore.abi.CMemory;
import org.softrdma.rdmacore.abi.VerbsAbi;
import org.softrdma.rdmacore.fake.FakeVerbsLibrary;
import org.softrdma.verbs.Feature;

/** What opening finds out, and that it refuses a context that is not what it should be, leaving nothing behind. */
class CoreDeviceProbeTest {
    private final FakeVerbsLibrary library = new FakeVerbsLibrary("fake0", false);

    private CoreDevice open() {
        return new CoreDevice("fake", library, DeviceList.open(library), library.context(), Optional.empty());
    }

    private void expectRefusal(String field) {
        AbiMismatchException refused = assertThrows(AbiMismatchException.class, this::open);
        String message = String.valueOf(refused.getMessage());
        assertTrue(message.contains(field) && message.contains("expected"), message);
        assertEquals(0, library.live(), "native objects left");
    }

    @Test
    void shouldFindTheLargestInlineSizeAndLeaveNothingBehind() {
        CoreDevice device = open();
        assertEquals(100, device.capabilities().maxInline());
        assertTrue(device.capabilities().has(Feature.ZERO_BASED));
        assertEquals("fake0 (rdma-core, RoCE)", device.name());
        device.close();
        assertEquals(0, library.live(), "native objects left");
    }

    @Test
    void shouldRefuseAContextWithoutTheExtendedLayout() {
        CMemory.putLong(library.context() + VerbsAbi.CONTEXT_ABI_COMPAT, 0);
        expectRefusal("abi_compat");
    }

    @Test
    void shouldRefuseAContextOfAnotherSize() {
        CMemory.putLong(library.context() + VerbsAbi.CONTEXT_EXTENDED_SIZE, 8);
        expectRefusal("verbs_context.sz");
    }

    @Test
    void shouldRefuseAContextWhoseDescriptorIsNone() {
        CMemory.putInt(library.context() + VerbsAbi.CONTEXT_ASYNC_FD, 1_000_000);
        expectRefusal("async_fd");
    }

    @Test
    void shouldRefuseAnUnknownTransport() {
        long device = CMemory.getLong(library.context() + VerbsAbi.CONTEXT_DEVICE);
        CMemory.putInt(device + VerbsAbi.DEVICE_TRANSPORT, 2);
        expectRefusal("transport_type");
    }
}
