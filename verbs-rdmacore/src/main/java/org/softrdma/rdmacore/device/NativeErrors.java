package org.softrdma.rdmacore.device;

import org.softrdma.ibverbs.Errno;
import org.softrdma.rdmacore.abi.VerbsLibrary;
import org.softrdma.verbs.VerbsException;

/** Error numbers of C functions as exceptions that say what was asked for and what to do. */
final class NativeErrors {
    private NativeErrors() {}

    /**
     * An error of a function.
     *
     * @param function its C name
     * @param errno of either sign
     * @param what what was asked for, and a remedy if one is known
     */
    static VerbsException failed(String function, long errno, String what) {
        int number = (int) Math.abs(errno);
        return new VerbsException(Errno.code(number), function + ": " + Errno.text(number) + ": " + what);
    }

    /**
     * A pointer that a function has made.
     *
     * @throws VerbsException if it is an error
     */
    static long require(String function, long pointer, String what) {
        if (VerbsLibrary.isError(pointer)) {
            throw failed(function, pointer, what);
        }
        return pointer;
    }

    /**
     * True if what a function closes is closed: by it, or because the device was removed, when the kernel has closed
     * everything itself and says {@code EIO}.
     *
     * @param errno that it returned
     */
    static boolean isClosed(int errno) {
        return errno == 0 || Math.abs(errno) == Errno.EIO;
    }

    /**
     * Checks what a function that closes something returned.
     *
     * @throws VerbsException if it failed: what it closes is still there
     */
    static void requireClosed(String function, int errno) {
        if (!isClosed(errno)) {
            throw failed(function, errno, "expected no native user of it any more");
        }
    }
}
