package org.softrdma.kv.memcached;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.kv.item.KeySlice;

class TextProtocolTest {
    private final byte[] line = new byte[TextProtocol.MAX_VALUE_LINE_LENGTH];

    @Test
    void shouldWriteValueLine() {
        KeySlice key = new KeySlice().wrap("xkeyx".getBytes(StandardCharsets.US_ASCII), 1, 3);
        int length = TextProtocol.valueLine(line, key, -1, 0, false, 9);
        assertEquals("VALUE key 4294967295 0\r\n", new String(line, 0, length, StandardCharsets.US_ASCII));
        length = TextProtocol.valueLine(line, key, 0, 100, true, -1);
        assertEquals(
                "VALUE key 0 100 18446744073709551615\r\n", new String(line, 0, length, StandardCharsets.US_ASCII));
    }

    @Test
    void shouldHaveRoomForTheLongestValueLine() {
        KeySlice key = new KeySlice(new byte[TextProtocol.MAX_KEY_LENGTH]);
        assertEquals(line.length, TextProtocol.valueLine(line, key, -1, Integer.MAX_VALUE, true, -1));
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 9, 10, 99, 100, Long.MAX_VALUE, Long.MIN_VALUE, -1})
    void shouldWriteUnsignedNumber(long number) {
        int end = TextProtocol.number(line, 3, number);
        assertEquals(Long.toUnsignedString(number), new String(line, 3, end - 3, StandardCharsets.US_ASCII));
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "-1, 1",
        "-2147483648, 1",
        "1, 1700000001",
        "2592000, 1702592000",
        "2592001, 1",
        "1700000000, 1",
        "1700000001, 1700000001",
        "2147483647, 2147483647"
    })
    void shouldReadExptimeLikeMemcached(int exptime, int expected) {
        assertEquals(expected, Expiry.toAbsolute(exptime, 1_700_000_000, () -> 1_700_000_000));
    }
}
