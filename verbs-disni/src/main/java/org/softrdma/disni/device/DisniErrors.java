package org.softrdma.disni.device;

import java.io.IOException;
import org.softrdma.disni.library.ErrorText;
import org.softrdma.ibverbs.Errno;
import org.softrdma.verbs.VerbsException;

/** Turns DiSNI's exceptions into exceptions that say what was requested and what to do. */
final class DisniErrors {
    private DisniErrors() {}

    /** A call to DiSNI, with a result. */
    @FunctionalInterface
    interface Call<T> {
        T make() throws IOException;
    }

    /** A call to DiSNI, without a result. */
    @FunctionalInterface
    interface Action {
        void run() throws IOException;
    }

    /** Makes a call; {@code what} says what was requested, and a remedy if one is known. */
    static <T> T make(Call<T> call, String what) {
        try {
            return call.make();
        } catch (IOException e) {
            throw failed(e, what);
        }
    }

    /** Runs an action; {@code what} says what was requested, and a remedy if one is known. */
    static void run(Action action, String what) {
        try {
            action.run();
        } catch (IOException e) {
            throw failed(e, what);
        }
    }

    /** Closes something. If its device was removed, it is closed already, and {@code EIO} is no failure. */
    static void close(Action action, String what) {
        try {
            action.run();
        } catch (IOException e) {
            if (errno(e) != Errno.EIO) {
                throw failed(e, what);
            }
        }
    }

    /** The exception for an error of DiSNI. */
    static VerbsException failed(IOException cause, String what) {
        return new VerbsException(Errno.code(errno(cause)), text(cause) + ": " + what, cause);
    }

    /** The error number; 0 if the text has none. */
    static int errno(IOException cause) {
        return ErrorText.errnoOf(String.valueOf(cause.getMessage()));
    }

    /** The text without its trailing newline. */
    static String text(IOException cause) {
        return String.valueOf(cause.getMessage()).strip();
    }
}
