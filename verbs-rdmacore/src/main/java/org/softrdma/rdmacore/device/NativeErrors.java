package org.softrdma.rdmacore.device;

import org.softrdma.ibverbs.Errno;
import org.softrdma.rdmacore.abi.VerbsLibrary;
import org.softrdma.verbs.VerbsException;

/** Turns error numbers of C functions into exceptions that say what was requested and what to do. */
final class NativeErrors {
    private NativeErrors() {}

    /**
     * The exception for an error of a function.
     *
     * @param function its C name
     * @param errno of either sign
     * @param what what was requested, and a remedy if one is known
     */
    static VerbsException failed(String function, long errno, String what) {
        int number = (int) Math.abs(errno);
        return new VerbsException(Errno.code(number), function + ": " + Errno.text(number) + ": " + what);
    }

    /**
     * Checks a pointer that a function has returned.
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
     * True if a function has closed its object, or the kernel had already closed it because the device was removed
     * ({@code EIO}).
     *
     * @param errno result of the function
     */
    static boolean isClosed(int errno) {
        return errno == 0 || Math.abs(errno) == Errno.EIO;
    }

    /**
     * Checks the result of a function that closes something.
     *
     * @throws VerbsException if it failed: the object is still open
     */
    static void requireClosed(String function, int errno) {
        if (!isClosed(errno)) {
            throw failed(function, errno, "expected that nothing uses it any more");
        }
    }
}
