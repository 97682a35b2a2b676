package org.softrdma.bench.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

class SystemCommandTest {
    @Test
    void shouldSayWhatACommandSaidWhenItFails() throws IOException {
        SystemCommand.run(List.of("true"));
        IOException failed = assertThrows(
                IOException.class, () -> SystemCommand.run(List.of("sh", "-c", "echo no such link >&2; exit 3")));
        assertEquals("'sh -c echo no such link >&2; exit 3': no such link", failed.getMessage());
        IOException silent = assertThrows(IOException.class, () -> SystemCommand.run(List.of("false")));
        assertEquals("'false': has failed", silent.getMessage());
        assertThrows(IOException.class, () -> SystemCommand.run(List.of("softrdma-no-such-command")));
    }
}
