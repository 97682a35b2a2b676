package org.softrdma.verbs.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.device.VerbsProvider.Usability;

class VerbsProvidersTest {
    private final VerbsProvider usable = new Named("sim", Usability.usable("software RNIC"));
    private final VerbsProvider unusable =
            new Named("rdmacore", Usability.unusable("no RDMA device", "load a driver: modprobe rdma_rxe"));

    private record Named(String name, Usability usability) implements VerbsProvider {
        @Override
        public Map<String, String> options() {
            return Map.of();
        }

        @Override
        public VerbsDevice open(Map<String, String> options) {
            throw new UnsupportedOperationException();
        }
    }

    private record Prefixed(String prefix) implements ProviderDecorator {
        @Override
        public VerbsProvider decorate(VerbsProvider provider) {
            return new Named(prefix + " around " + provider.name(), provider.usability());
        }
    }

    @Test
    void shouldGiveAProviderByItsNameUsableOrNot() {
        assertSame(usable, VerbsProviders.named("sim", List.of(unusable, usable)));
        assertSame(unusable, VerbsProviders.named("rdmacore", List.of(unusable, usable)));
    }

    @Test
    void shouldListWhatThereIsAndWhyItIsNotUsableWhenNoneHasTheName() {
        VerbsException e =
                assertThrows(VerbsException.class, () -> VerbsProviders.named("smi", List.of(unusable, usable)));
        assertEquals(VerbsErrorCode.NO_DEVICE, e.code());
        assertEquals("""
                        there is no provider "smi"; there are:
                          rdmacore: not usable here: no RDMA device; load a driver: modprobe rdma_rxe
                          sim: software RNIC""", e.getMessage());
    }

    @Test
    void shouldPutTheDecoratorsInFrontOfTheNameAroundTheProvider() {
        List<VerbsProvider> providers = List.of(unusable, usable);
        List<ProviderDecorator> decorators = List.of(new Prefixed("outer"), new Prefixed("inner"));
        assertEquals(
                "outer around inner around sim",
                VerbsProviders.named("outer:inner:sim", providers, decorators).name());
        assertSame(usable, VerbsProviders.named("sim", providers, decorators));
    }

    @Test
    void shouldTellTheNameOfAProviderWithoutItsDecorators() {
        assertEquals("sim", VerbsProviders.bareName("outer:inner:sim"));
        assertEquals("sim", VerbsProviders.bareName("sim"));
    }

    @Test
    void shouldListTheDecoratorsWhenNoneHasThePrefix() {
        List<VerbsProvider> providers = List.of(usable);
        VerbsException one = assertThrows(
                VerbsException.class,
                () -> VerbsProviders.named("otter:sim", providers, List.of(new Prefixed("outer"))));
        assertEquals(VerbsErrorCode.NO_DEVICE, one.code());
        assertEquals("there is no decorator \"otter\" of providers; there are: outer", one.getMessage());
        VerbsException none =
                assertThrows(VerbsException.class, () -> VerbsProviders.named("outer:sim", providers, List.of()));
        assertEquals(
                "there is no decorator \"outer\" of providers; the class path has none at all; add verbs-sanitiser for"
                        + " \"sanitised\"",
                none.getMessage());
    }

    @Test
    void shouldSayWhatToAddWhenThereIsNoProvider() {
        assertEquals(List.of(), VerbsProviders.all(), "verbs-api has none");
        VerbsException e = assertThrows(VerbsException.class, () -> VerbsProviders.named("sim"));
        assertEquals(
                "there is no provider \"sim\": the class path has none at all; add softrdma-sim, or verbs-rdmacore for"
                        + " real devices",
                e.getMessage());
    }
}
