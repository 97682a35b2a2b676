package org.softrdma.net.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Keep-alive counts in whole seconds; the host timeout is divided so that it ends as near to it as they allow. */
class SocketOptionsTest {
    @ParameterizedTest
    @CsvSource({
        "2000, 1, 1, 2",
        "4000, 1, 3, 4",
        "8000, 2, 3, 8",
        "10000, 2, 4, 10",
        "3600000, 900, 3, 3600",
        // No shorter than a second before the question, and one after it.
        "1, 1, 1, 2",
    })
    void shouldAskASilentHostWithinTheHostTimeout(long timeoutMs, int seconds, int questions, int total) {
        SocketOptions options = new SocketOptions(0, 0, timeoutMs);
        assertEquals(seconds, options.keepAliveSeconds());
        assertEquals(questions, options.keepAliveQuestions());
        assertEquals(total, options.keepAliveSeconds() * (1 + options.keepAliveQuestions()));
    }
}
