package org.softrdma.kv.server;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/**
 * Ends the process when a thread of the server has failed, with a sentence and an exit code that is not 0, so that a
 * supervisor starts it again. Without shutdown hooks, which may wait for the very thread that is gone, and with
 * nothing that needs memory before the end is certain. Any thread.
 */
public final class ProcessEnd implements Consumer<Throwable> {
    /** The exit code: an internal error of the software, as sysexits.h has it. */
    public static final int EXIT_CODE = 70;

    private final byte[] sentence;

    /**
     * Prepares the end.
     *
     * @param name of the program, for the sentence
     */
    public ProcessEnd(String name) {
        sentence = (name + ": a thread has failed, and the server ends; start it again. The cause: ")
                .getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public void accept(Throwable cause) {
        try (FileOutputStream err = new FileOutputStream(FileDescriptor.err)) {
            err.write(sentence);
            err.write((cause + System.lineSeparator()).getBytes(StandardCharsets.UTF_8));
        } catch (IOException | Error e) {
            // Nobody can be told more than the exit code says.
        } finally {
            Runtime.getRuntime().halt(EXIT_CODE);
        }
    }
}
