package org.softrdma.cli.server;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;
import java.util.function.Consumer;
import org.softrdma.cli.command.UserErrorException;

/** The file of {@code -P}: the number of this process, from its start to its end. */
final class PidFile implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(PidFile.class.getName());

    private final Path file;
    private final String ours;

    private PidFile(Path file, String ours) {
        this.file = file;
        this.ours = ours;
    }

    /**
     * Writes it; whoever finds the file finds all of it.
     *
     * @param file its name
     * @param warn told if it names a process that runs, as memcached tells
     */
    static PidFile write(Path file, Consumer<String> warn) {
        String ours = Long.toString(ProcessHandle.current().pid());
        running(file, ours)
                .ifPresent(other ->
                        warn.accept("-P " + file + " names process " + other + ", which runs; it is written anew."));
        try {
            Path unfinished = file.resolveSibling(file.getFileName() + ".tmp");
            Files.writeString(unfinished, ours + "\n");
            Files.move(unfinished, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new UserErrorException("-P " + file + ": cannot write the file: " + reason(e), e);
        }
        return new PidFile(file, ours);
    }

    private static String reason(IOException e) {
        return e instanceof NoSuchFileException ? "there is no such directory" : String.valueOf(e.getMessage());
    }

    /** The number in the file, if it is that of another process that runs. */
    private static Optional<String> running(Path file, String ours) {
        try {
            String number = Files.readString(file).strip();
            boolean runs = number.matches("[0-9]{1,18}")
                    && !number.equals(ours)
                    && ProcessHandle.of(Long.parseLong(number)).isPresent();
            return runs ? Optional.of(number) : Optional.empty();
        } catch (IOException e) {
            return Optional.empty(); // there is none, or it is no text
        }
    }

    /** Deletes it, unless another server has written it since. */
    @Override
    public void close() {
        try {
            if (Files.readString(file).strip().equals(ours)) {
                Files.delete(file);
            }
        } catch (NoSuchFileException e) {
            LOG.log(System.Logger.Level.DEBUG, "-P " + file + " is gone already");
        } catch (IOException e) {
            LOG.log(System.Logger.Level.WARNING, "-P " + file + " could not be deleted: " + e.getMessage());
        }
    }
}
