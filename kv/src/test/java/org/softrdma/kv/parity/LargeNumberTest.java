package org.softrdma.kv.parity;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the fuzzer takes for memcached's look behind a large number, and what is a fault of ours. */
class LargeNumberTest {
    @ParameterizedTest
    @CsvSource({
        "incr a 1,                    9223372036854775809,  true",
        "incr a 1,                    9223372036854775808,  false",
        "incr a 1,                    0,                    true",
        "incr a 2 noreply,            1,                    true",
        "incr a 10,                   15,                   false",
        "incr a -9223372036854775809, 9223372036854775806,  true",
        "incr a -9223372036854775809, 9223372036854775807,  false",
        "decr a 9223372036854775808,  9223372036854775807,  true",
        "decr a 1,                    9223372036854775807,  true",
        "decr a 1,                    9223372036854775806,  false",
        "decr a 18446744073709551615, 0,                    true",
        "decr a 5,                    0,                    false",
        "get a,                       9223372036854775809,  false"
    })
    void shouldTellFromTheAnswerWhatTheNumberWas(String line, String answer, boolean large) {
        assertEquals(large, LargeNumber.mayHaveBeenBefore(Unit.line(line), answer + "\r\n"));
    }

    @ParameterizedTest
    @CsvSource({
        "ma a v,       0,  true",
        "ma a v,       6,  false",
        "ma a v D5 MD, 0,  false",
        "ma a v MD,    9223372036854775807, true",
        "ma a D7 v MI, 6,  true",
        "ma a D7 v MI, 7,  false",
        "ma a D-1 v,   18446744073709551614, true",
        "ma a D-1 v,   5,  false"
    })
    void shouldReadMetaRequests(String line, String answer, boolean large) {
        assertEquals(large, LargeNumber.mayHaveBeenBefore(Unit.line(line), "VA 1\r\n" + answer + "\r\n"));
        assertEquals(true, LargeNumber.mayHaveBeenBefore(Unit.line(line), "HD\r\n"));
    }

    @ParameterizedTest
    @CsvSource({
        "5,  1,  0,                   true",
        "5,  1,  2,                   false",
        "21, 10, 9,                   true",
        "6,  1,  9223372036854775807, true",
        "6,  1,  7,                   false",
        "22, -1, 0,                   true"
    })
    void shouldReadBinaryRequests(int opcode, long delta, String answer, boolean large) {
        BinaryDialect dialect = new BinaryDialect();
        Unit unit = dialect.arithmetic((byte) opcode, "a", delta);
        byte[] frame = dialect.arithmeticAnswer((byte) opcode, Long.parseUnsignedLong(answer));
        String plain = dialect.plain(new String(frame, StandardCharsets.ISO_8859_1));
        assertEquals(large, LargeNumber.mayHaveBeenBefore(unit, plain), plain);
    }

    @Test
    void shouldNotTellOfAQuietRequest() {
        assertEquals(true, LargeNumber.mayHaveBeenBefore(Unit.line("incr a 1 noreply"), ""));
    }
}
