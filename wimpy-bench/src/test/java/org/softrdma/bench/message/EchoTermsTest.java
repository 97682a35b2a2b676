package org.softrdma.bench.message;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.softrdma.verbs.RemoteRegion;

class EchoTermsTest {
    private static final String ECHO = "00000010" + "0000000000019000" + "00".repeat(28);
    private static final String POLLED =
            "00000010" + "0000000000000008" + "0000000000001000" + "0000123456789abc" + "0000000000010000" + "0a0b0c0d";
    private static final RemoteRegion REGION = new RemoteRegion(0x1234_5678_9abcL, 0x10000, 0x0a0b_0c0d);

    static List<Arguments> texts() {
        return List.of(
                Arguments.of(ECHO, new EchoTerms(16, 102_400, EchoTerms.SAME, Optional.empty())),
                Arguments.of(POLLED, new EchoTerms(16, 8, 4096, Optional.of(REGION))));
    }

    @ParameterizedTest
    @MethodSource("texts")
    void shouldBeWindowSizesAndRegion(String golden, EchoTerms terms) {
        assertEquals(golden, HexFormat.of().formatHex(terms.encode()));
        assertEquals(terms, EchoTerms.decode(HexFormat.of().parseHex(golden)));
        assertEquals(terms, EchoTerms.decode(HexFormat.of().parseHex(golden + "0000")), "padded");
    }

    @Test
    void shouldTellARegionAlone() {
        assertEquals("0000123456789abc" + "0000000000010000" + "0a0b0c0d", hex(EchoTerms.encode(REGION)));
        assertEquals(REGION, EchoTerms.decodeRegion(EchoTerms.encode(REGION)));
        byte[] tooShort = Arrays.copyOf(EchoTerms.encode(REGION), 19);
        assertThrows(IllegalArgumentException.class, () -> EchoTerms.decodeRegion(tooShort));
    }

    private static String hex(byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }

    @Test
    void shouldRefuseEveryShorterText() {
        byte[] whole = HexFormat.of().parseHex(ECHO);
        for (int length = 0; length < whole.length; length++) {
            byte[] part = Arrays.copyOf(whole, length);
            assertThrows(IllegalArgumentException.class, () -> EchoTerms.decode(part));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "0, 1, 0",
        "-1, 1, 0",
        "4097, 1, 0",
        "1, 0, 0",
        "1, -1, 0",
        "1, 2147483648, 0",
        "1, 1, -1",
        "1, 1, 2147483648"
    })
    void shouldRefuseWhatMakesNoSense(int window, long size, long answer) {
        assertThrows(IllegalArgumentException.class, () -> new EchoTerms(window, size, answer, Optional.empty()));
    }

    /** A WRITE beyond the region would cost the peer its connection; one without a word to poll would never be seen. */
    @ParameterizedTest
    @CsvSource({"16, 4104", "17, 4096", "1, 0", "1, 4", "1, 12", "4096, 9223372036854775800"})
    void shouldRefuseAnswersThatDoNotFit(int window, long answer) {
        assertThrows(IllegalArgumentException.class, () -> new EchoTerms(window, 8, answer, Optional.of(REGION)));
    }
}
