package org.softrdma.bench.message;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EchoTermsTest {
    private static final String GOLDEN = "00000010" + "0000000000019000";

    @Test
    void shouldBeWindowAndSize() {
        EchoTerms terms = new EchoTerms(16, 102_400);
        assertEquals(GOLDEN, HexFormat.of().formatHex(terms.encode()));
        assertEquals(terms, EchoTerms.decode(HexFormat.of().parseHex(GOLDEN)));
        assertEquals(terms, EchoTerms.decode(HexFormat.of().parseHex(GOLDEN + "0000")), "padded");
    }

    @Test
    void shouldRefuseEveryShorterText() {
        byte[] whole = HexFormat.of().parseHex(GOLDEN);
        for (int length = 0; length < whole.length; length++) {
            byte[] part = Arrays.copyOf(whole, length);
            assertThrows(IllegalArgumentException.class, () -> EchoTerms.decode(part));
        }
    }

    @ParameterizedTest
    @CsvSource({"0, 1", "-1, 1", "4097, 1", "1, 0", "1, -1", "1, 2147483648"})
    void shouldRefuseWhatMakesNoSense(int window, long size) {
        assertThrows(IllegalArgumentException.class, () -> new EchoTerms(window, size));
    }
}
