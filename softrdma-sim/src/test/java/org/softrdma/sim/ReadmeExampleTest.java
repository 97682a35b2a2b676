package org.softrdma.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * README's program, as it stands there: a JVM of its own runs it from its source, with the flag that README names and no
 * other, and it prints what README says.
 */
class ReadmeExampleTest {
    private static final Path README = Path.of("../README.md");

    @Test
    void shouldPrintWhatReadmeSays(@TempDir Path folder) throws IOException, InterruptedException {
        String readme = Files.readString(README);
        Path program = Files.writeString(folder.resolve("ReadExample.java"), block(readme, "java"));
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(flags(readme));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), program.toString()));
        Path output = folder.resolve("output");
        Path errors = folder.resolve("errors");
        Process process = new ProcessBuilder(command)
                .redirectOutput(output.toFile())
                .redirectError(errors.toFile())
                .start();
        try {
            assertTrue(process.waitFor(100, TimeUnit.SECONDS), () -> "it hangs: " + command);
        } finally {
            process.destroyForcibly();
        }
        assertEquals("", Files.readString(errors));
        assertEquals(block(readme, "text"), Files.readString(output));
    }

    private static String block(String readme, String language) {
        String begin =
                "\n\n```" + language + "\n"; // not one with a comment above it, which says where its code is from
        int from = readme.indexOf(begin);
        assertTrue(from >= 0, "README has no block of " + language);
        return readme.substring(from + begin.length(), readme.indexOf("```\n", from + begin.length()));
    }

    /** What README says the JVM needs: the line that begins with a flag. */
    private static List<String> flags(String readme) {
        String line = readme.lines()
                .filter(each -> each.startsWith("    --"))
                .findFirst()
                .orElseThrow()
                .strip();
        return List.of(line.split(" ", -1));
    }
}
