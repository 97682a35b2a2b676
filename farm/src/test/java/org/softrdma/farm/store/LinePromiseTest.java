package org.softrdma.farm.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.net.InetSocketAddress;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.device.VerbsDevice;

/** Objects have checksums unless the protocol is the paper's, or the device promises what the paper relies on. */
class LinePromiseTest {
    @ParameterizedTest
    @CsvSource({"SAFE, 0, true", "SAFE, 8, true", "SAFE, 64, false", "PAPER, 0, false", "PAPER, 64, false"})
    void shouldHaveChecksumsWhereLinesAreNotPromised(Protocol protocol, int coherentUnit, boolean checksums) {
        VerbsDevice device = mock(VerbsDevice.class);
        ProtectionDomain domain = mock(ProtectionDomain.class);
        HostMemory memory = mock(HostMemory.class);
        MemoryRegion region = mock(MemoryRegion.class);
        when(device.allocateMemory(anyLong())).thenReturn(memory);
        when(domain.register(any(), any())).thenReturn(region);
        when(region.coherentUnit()).thenReturn(coherentUnit);
        StoreServerContext context = new StoreServerContext(new InetSocketAddress(0))
                .protocol(protocol)
                .conclude();

        FarmSettings settings = FarmSettings.of(context, FarmShards.movesLinesWhole(device, domain));

        assertEquals(checksums, settings.shape().checksums());
    }
}
