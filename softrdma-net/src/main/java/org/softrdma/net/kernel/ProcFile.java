package org.softrdma.net.kernel;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reads files below /proc that have a number on each line, as in {@code Name: 123 kB}. Any thread. */
public final class ProcFile {
    private ProcFile() {}

    /**
     * The numbers by name, without their unit.
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

    /** The lines; none if the file cannot be read. Not readString: files below /proc/sys report a wrong length. */
    public static List<String> lines(String path) {
        try {
            return Files.readAllLines(Path.of(path));
        } catch (IOException e) {
            return List.of();
        }
    }
}
