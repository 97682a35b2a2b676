package org.softrdma.cli.command;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Results as a JSON file, where {@code --json} says. */
public final class ResultFile {
    private ResultFile() {}

    /**
     * Writes results.
     *
     * @param file where to; its directories are made
     * @param results anything that Jackson writes
     */
    public static void write(Path file, Object results) {
        try {
            Path parent = file.toAbsolutePath().getParent();
            if (parent != null) {
                Files.createDirectories(parent);
            }
            new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT).writeValue(file.toFile(), results);
        } catch (IOException e) {
            throw new UserErrorException("--json " + file + ": cannot write the file: " + e.getMessage(), e);
        }
    }
}
