package org.softrdma.disni;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.softrdma.ibverbs.LibraryUnavailableException;
import org.softrdma.ibverbs.RdmaSubsystem;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.device.VerbsDevice;
import org.softrdma.verbs.device.VerbsProvider;
import org.softrdma.verbs.device.VerbsProvider.Usability;

/** A sentence for each thing that is missing, the same from usability and from opening; and options. */
class DisniProviderTest {
    @TempDir
    @SuppressWarnings("NullAway.Init")
    private Path root;

    private static void expectUnusable(VerbsProvider provider, String reason) {
        Usability usability = provider.usability();
        assertFalse(usability.usable());
        assertTrue(usability.reason().contains(reason), usability.reason());
        assertFalse(usability.remedy().isBlank());
        VerbsException refused = assertThrows(VerbsException.class, () -> provider.open(Map.of()));
        assertEquals(VerbsErrorCode.NO_DEVICE, refused.code());
        String message = String.valueOf(refused.getMessage());
        assertTrue(message.contains(reason) && message.contains(usability.remedy()), message);
        assertFalse(message.contains("\n"), message);
    }

    @Test
    void shouldSayWhatIsMissingWhenDisniCannotBeLoaded() {
        expectUnusable(
                new DisniProvider(
                        () -> {
                            throw new LibraryUnavailableException("no libdisni.so", "build it");
                        },
                        new RdmaSubsystem(root)),
                "no libdisni.so");
    }

    @Test
    void shouldSayWhatTheKernelHasWhenThereIsNoEventChannel() {
        expectUnusable(
                new DisniProvider(
                        () -> () -> {
                            throw new IOException("j2c::createEventChannel: failed: No such device\n");
                        },
                        new RdmaSubsystem(root)),
                "the kernel has no RDMA device (j2c::createEventChannel: failed: No such device)");
    }

    @Test
    void shouldSayWhyOrOpenOnThisMachine() {
        DisniProvider provider = new DisniProvider();
        Usability usability = provider.usability();
        assertEquals(usability.usable(), usability.remedy().isEmpty(), usability.toString());
        if (usability.usable()) {
            try (VerbsDevice device = provider.open(Map.of())) {
                assertTrue(usability.reason().contains(device.name()), usability.reason());
            }
        } else {
            expectUnusable(provider, usability.reason());
        }
    }

    @Test
    void shouldNameTheOptionWhenItIsUnknownOrNoAddress() {
        DisniProvider provider = new DisniProvider();
        for (Map<String, String> wrong : java.util.List.of(
                Map.of("colour", "red"),
                Map.of("address", "1.2.3.4.5"),
                Map.of("address", "::1"),
                Map.of("address", "0.0.0.0"))) {
            IllegalArgumentException refused = assertThrows(IllegalArgumentException.class, () -> provider.open(wrong));
            String name = wrong.keySet().iterator().next();
            assertTrue(String.valueOf(refused.getMessage()).contains(name), refused.getMessage());
        }
    }
}
