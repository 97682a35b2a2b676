package org.softrdma.kv.server.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class EndedLoopsTest {
    private final List<Throwable> failures = new ArrayList<>();
    private final EndedLoops ended = new EndedLoops(failures::add);

    @Test
    void shouldTellOfAThreadThatShouldNotHaveEnded() {
        ended.run();
        assertEquals(
                "a thread of the memcached port has ended", failures.getFirst().getMessage());
    }

    @Test
    void shouldSayNothingOfThreadsThatMayEnd() {
        ended.expect();
        ended.run();
        assertEquals(List.of(), failures);
    }
}
