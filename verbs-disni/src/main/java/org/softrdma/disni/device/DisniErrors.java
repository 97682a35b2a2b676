package org.softrdma.disni.device;

import java.io.IOException;
import org.softrdma.disni.library.ErrorText;
import org.softrdma.ibverbs.Errno;
import org.softrdma.verbs.VerbsException;

/** DiSNI's exceptions as exceptions that say what was asked for and what to do. */
final class DisniErrors {
    private DisniErrors() {}

    /** A call that may fail in DiSNI's way. */
    @FunctionalInterface
    interface Call<T> {
        T make() throws IOException;
    }

    /** The same without a result. */
    @FunctionalInterface
    interface Action {
        void run() throws IOException;
    }

    /** Makes a call; {@code what} says what was asked for, and a remedy if one is known. */
    static <T> T make(Call<T> call, String what) {
        try {
            return call.make();
        } catch (IOException e) {
            throw failed(e, what);
        }
    }

    /** Runs an action; {@code what} says what was asked for, and a remedy if one is known. */
    static void run(Action action, String what) {
        try {
            action.run();
        } catch (IOException e) {
            throw failed(e, what);
        }
    }

    /** Closes something, unless its device was removed: then it is closed already, and C functions say {@code EIO}. */
    static void close(Action action, String what) {
        try {
            action.run();
        } catch (IOException e) {
            if (errno(e) != Errno.EIO) {
                throw failed(e, what);
            }
        }
    }

    /** An error of DiSNI. */
    static VerbsException failed(IOException cause, String what) {
        return new VerbsException(Errno.code(errno(cause)), text(cause) + ": " + what, cause);
    }

    /** Its error number; 0 if the text has none. */
    static int errno(IOException cause) {
        return ErrorText.errnoOf(String.valueOf(cause.getMessage()));
    }

    /** Its text without the newline that it ends with. */
    static String text(IOException cause) {
        return String.valueOf(cause.getMessage()).strip();
    }
}
