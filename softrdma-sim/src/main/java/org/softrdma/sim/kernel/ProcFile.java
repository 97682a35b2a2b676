package org.softrdma.sim.kernel;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Files below /proc with a number on a line, {@code Name: 123 kB}. */
public final class ProcFile {
    private ProcFile() {}

    /**
     * The numbers by name, as they stand there.
     *
     * @param path the file
     * @return empty if it cannot be read
     */
    public static Map<String, Long> numbers(String path) {
        Map<String, Long> numbers = new HashMap<>();
        for (String line : lines(path)) {
            String[] words = line.split("[:\\s]+", 3);
            if (words.length > 1 && words[1].matches("[0-9]{1,18}")) {
                numbers.put(words[0], Long.parseLong(words[1]));
            }
        }
        return numbers;
    }

    /** The lines, none if it cannot be read. Not readString: files below /proc/sys tell their length wrong. */
    public static List<String> lines(String path) {
        try {
            return Files.readAllLines(Path.of(path));
        } catch (IOException e) {
            return List.of();
        }
    }
}
