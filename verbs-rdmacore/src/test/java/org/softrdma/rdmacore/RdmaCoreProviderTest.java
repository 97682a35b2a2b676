package org.softrdma.rdmacore;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.device.VerbsDevice;
import org.softrdma.verbs.device.VerbsProvider.Usability;

/** What the provider makes of the machine that runs this test, and of options. */
class RdmaCoreProviderTest {
    @Test
    void shouldSayWhyOrOpenOnThisMachine() {
        RdmaCoreProvider provider = new RdmaCoreProvider();
        Usability usability = provider.usability();
        assertFalse(usability.reason().isBlank());
        assertEquals(usability.usable(), usability.remedy().isEmpty(), usability.toString());
        if (usability.usable()) {
            try (VerbsDevice device = provider.open(Map.of())) {
                assertTrue(usability.reason().contains(device.name()), usability.reason());
            }
        } else {
            VerbsException refused = assertThrows(VerbsException.class, () -> provider.open(Map.of()));
            assertEquals(VerbsErrorCode.NO_DEVICE, refused.code());
            String message = String.valueOf(refused.getMessage());
            assertTrue(message.contains(usability.remedy()), message);
        }
    }

    @Test
    void shouldNameTheOptionWhenItIsUnknownOrNoAddress() {
        RdmaCoreProvider provider = new RdmaCoreProvider();
        IllegalArgumentException unknown =
                assertThrows(IllegalArgumentException.class, () -> provider.open(Map.of("colour", "red")));
        assertTrue(String.valueOf(unknown.getMessage()).contains("colour"), unknown.getMessage());
        IllegalArgumentException address =
                assertThrows(IllegalArgumentException.class, () -> provider.open(Map.of("address", "1.2.3.4.5")));
        assertTrue(String.valueOf(address.getMessage()).contains("1.2.3.4.5"), address.getMessage());
    }
}
