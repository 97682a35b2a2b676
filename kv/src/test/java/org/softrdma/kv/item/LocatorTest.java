package org.softrdma.kv.item;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LocatorTest {
    private static final Locator LOCATOR = new Locator(0x89ABCDEF, 0x1_2345_6788L, 0x012340, 0xFE, 0x80000001);
    private static final String GOLDEN = "efcdab89" + "f1ac6824" + "402301fe" + "01000080";

    @Test
    void shouldWriteTheGoldenBytes() {
        assertEquals(GOLDEN, LOCATOR.toHex());
    }

    @Test
    void shouldReadTheGoldenBytes() {
        assertEquals(LOCATOR, Locator.ofHex(GOLDEN));
    }

    @Test
    void shouldReadItsHalves() {
        assertEquals(LOCATOR.rkey(), Locator.rkey(LOCATOR.first()));
        assertEquals(LOCATOR.offset(), Locator.offset(LOCATOR.first()));
        assertEquals(LOCATOR.length(), Locator.length(LOCATOR.second()));
        assertEquals(LOCATOR.sizeClass(), Locator.sizeClass(LOCATOR.second()));
        assertEquals(LOCATOR.generation(), Locator.generation(LOCATOR.second()));
        assertEquals(LOCATOR, Locator.of(LOCATOR.first(), LOCATOR.second()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "00", "zz000000000000000000000000000000", "000000000000000000000000000000000"})
    void shouldRefuseOtherText(String text) {
        assertThrows(IllegalArgumentException.class, () -> Locator.ofHex(text));
    }

    @Test
    void shouldRefuseWhatDoesNotFit() {
        assertThrows(IllegalArgumentException.class, () -> new Locator(0, 4, 8, 0, 1));
        assertThrows(IllegalArgumentException.class, () -> new Locator(0, -8, 8, 0, 1));
        assertThrows(IllegalArgumentException.class, () -> new Locator(0, 1L << 35, 8, 0, 1));
        assertThrows(IllegalArgumentException.class, () -> new Locator(0, 0, 1 << 24, 0, 1));
        assertThrows(IllegalArgumentException.class, () -> new Locator(0, 0, 8, 256, 1));
    }
}
