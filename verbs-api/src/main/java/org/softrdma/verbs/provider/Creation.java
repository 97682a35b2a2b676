package org.softrdma.verbs.provider;

import java.util.function.Supplier;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/**
 * Makes an object or leaves nothing behind, whatever fails: nobody could give back what was taken for an object that
 * does not exist. A lack of memory is a refusal like any other.
 */
public final class Creation {
    private Creation() {}

    /**
     * Takes something for an object and makes it. The caller has made everything that this needs before anything is
     * taken: its lambdas and texts are objects too, for which there may be no memory.
     *
     * @param take takes it; if it throws, nothing was taken
     * @param made makes the object
     * @param undo gives back what was taken; run if the object could not be made
     * @param what it is, for people
     * @throws VerbsException {@code NO_RESOURCES} if there is not enough memory
     */
    public static <T> T counted(Runnable take, Supplier<T> made, Runnable undo, String what) {
        take.run();
        return orUndo(made, undo, what);
    }

    /**
     * Makes an object.
     *
     * @param made makes it
     * @param undo gives back what was taken for it; run if it could not be made
     * @param what it is, for people
     * @throws VerbsException {@code NO_RESOURCES} if there is not enough memory
     */
    public static <T> T orUndo(Supplier<T> made, Runnable undo, String what) {
        try {
            return made.get();
        } catch (OutOfMemoryError e) {
            undo.run();
            throw new VerbsException(
                    VerbsErrorCode.NO_RESOURCES,
                    "not enough memory for " + what + ": " + e.getMessage()
                            + "; ask for less, or raise -Xmx (memory outside of the heap: -XX:MaxDirectMemorySize)",
                    e);
        } catch (Throwable e) {
            undo.run();
            throw e;
        }
    }
}
