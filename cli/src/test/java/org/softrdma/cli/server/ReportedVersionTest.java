package org.softrdma.cli.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReportedVersionTest {
    /** What libmemcached and others parse, and what npm's memcached does; that one crashes if it finds nothing. */
    private static final Pattern BEGIN = Pattern.compile("^1\\.6\\.18-softrdma-");

    private static final Pattern END = Pattern.compile("(\\d+)(?:\\.)(\\d+)(?:\\.)(\\d+)$");

    @ParameterizedTest
    @ValueSource(strings = {"0.1.0", "0.1.0-SNAPSHOT", "1.2.3-rc.1", "1.2", "unknown", ""})
    void shouldBeginAndEndWithNumbers(String own) {
        String version = ReportedVersion.of(own);
        assertTrue(BEGIN.matcher(version).find(), version);
        assertTrue(END.matcher(version).find(), version);
        assertEquals(-1, version.indexOf(' '), version);
    }

    @Test
    void shouldHaveTheNumbersOfThisProgram() {
        assertEquals("1.6.18-softrdma-0.1.0", ReportedVersion.of("0.1.0-SNAPSHOT"));
        assertTrue(END.matcher(ReportedVersion.here()).find());
    }
}
