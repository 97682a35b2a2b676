package org.softrdma.sanitiser;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.softrdma.sanitiser.finding.FindingException;
import org.softrdma.sanitiser.finding.Rule;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.device.VerbsDevice;
import org.softrdma.verbs.device.VerbsProvider;
import org.softrdma.verbs.device.VerbsProviders;

/** The provider names that begin with {@code sanitised:}. */
class SanitisedProviderTest {
    private final VerbsProvider provider = VerbsProviders.named("sanitised:sim");

    @Test
    void shouldHaveTheOptionsOfTheProviderAndTwoMore() {
        VerbsProvider bare = VerbsProviders.named("sim");
        assertEquals("sanitised:sim", provider.name());
        assertEquals(bare.usability(), provider.usability());
        assertTrue(provider.options().keySet().containsAll(bare.options().keySet()));
        assertEquals(bare.options().size() + 2, provider.options().size());
    }

    @Test
    void shouldThrowWhenToldTo() {
        VerbsDevice device = provider.open(Map.of("sanitiser", "throw", "transport", "nio"));
        ProtectionDomain domain = device.allocateProtectionDomain();
        FindingException thrown = assertThrows(FindingException.class, device::close);
        assertEquals(Rule.LEAKED, thrown.finding().rule());
        domain.close();
        device.close();
    }

    @Test
    void shouldWatchTheRulesThatAreNamed() {
        VerbsDevice device =
                provider.open(Map.of("sanitiser", "throw", "sanitiser-rules", "SINKS_OVERLAP, ARENA_CLOSED"));
        ProtectionDomain domain = device.allocateProtectionDomain();
        assertThrows(VerbsException.class, device::close);
        domain.close();
        device.close();
    }

    @Test
    void shouldNameWhatItExpectedWhenAnOptionIsWrong() {
        IllegalArgumentException action =
                assertThrows(IllegalArgumentException.class, () -> provider.open(Map.of("sanitiser", "scream")));
        assertEquals("sanitiser=scream: expected log or throw", action.getMessage());
        IllegalArgumentException rules = assertThrows(
                IllegalArgumentException.class, () -> provider.open(Map.of("sanitiser-rules", "LEAKED,LEEKS")));
        assertTrue(
                String.valueOf(rules.getMessage())
                        .startsWith("sanitiser-rules=LEAKED,LEEKS: no rule LEEKS; expected all or some of"),
                rules::getMessage);
    }
}
