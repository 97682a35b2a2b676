package org.softrdma.bench.machine;

import java.io.FileInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;

/** Reads files of /proc and /sys, whose size is not known before they are read. */
public final class KernelFile {
    private KernelFile() {}

    /**
     * The text of a file; empty if it is not there (any more) or may not be read.
     *
     * @param path the file
     */
    public static Optional<String> read(Path path) {
        try (FileInputStream in = new FileInputStream(path.toFile())) {
            return Optional.of(new String(in.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /**
     * The first line of a file, trimmed.
     *
     * @param path the file
     */
    public static Optional<String> firstLine(Path path) {
        return read(path).flatMap(text -> text.lines().findFirst()).map(String::trim);
    }
}
