package org.softrdma.run.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.FileInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** What a program inherits of this JVM: nothing that was opened for its run. */
@EnabledOnOs(OS.LINUX)
class OwnDescriptorsTest {
    private static final Pattern FLAGS = Pattern.compile("flags:\\s+(\\d+)");
    private static final int CLOSE_ON_EXEC = 02000000;
    private static final int ROUNDS = 20;

    @TempDir
    private Path folder;

    /** What is opened next has the number that the look had: the lowest that is free. */
    @Test
    void shouldKeepFromProgramsWhatIsOpenedNext() throws IOException {
        Path file = Files.createFile(folder.resolve("file"));
        for (int i = 0; i < ROUNDS; i++) { // another thread may have closed a lower one
            Set<Integer> before = OwnDescriptors.open();
            try (FileInputStream opened = new FileInputStream(file.toFile())) {
                OwnDescriptors.closeOnExecSince(before);
                assertEquals(-1, opened.read());
                assertTrue((flags(file) & CLOSE_ON_EXEC) != 0, "a program would inherit it");
            }
        }
    }

    /** How the only descriptor of a file was opened. */
    private static int flags(Path file) throws IOException {
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            Path own =
                    descriptors.filter(each -> leadsTo(each, file)).findFirst().orElseThrow();
            Matcher flags =
                    FLAGS.matcher(Files.readString(Path.of("/proc/self/fdinfo").resolve(own.getFileName())));
            assertTrue(flags.find());
            return Integer.parseInt(flags.group(1), 8);
        }
    }

    private static boolean leadsTo(Path descriptor, Path file) {
        try {
            return Files.readSymbolicLink(descriptor).equals(file.toRealPath());
        } catch (IOException e) {
            return false; // closed meanwhile
        }
    }
}
