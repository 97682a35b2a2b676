package org.softrdma.kv;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * What an object has opened so far, to be closed in reverse order: by its constructor if a later step fails, by its
 * close method otherwise. Everything is closed even if closing something fails. Owned by one thread.
 */
public final class CloseStack implements AutoCloseable {
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();

    /** Nothing opened yet. */
    public CloseStack() {}

    /**
     * Remembers something that is open.
     *
     * @param resource closed with this
     * @return the same
     */
    public <T extends AutoCloseable> T add(T resource) {
        opened.push(resource);
        return resource;
    }

    /**
     * Closes everything, last first. Idempotent.
     *
     * @throws RuntimeException the first failure, with the others suppressed
     */
    @Override
    public void close() {
        @Nullable RuntimeException failure = null;
        while (!opened.isEmpty()) {
            try {
                opened.pop().close();
            } catch (RuntimeException e) {
                failure = add(failure, e);
            } catch (Exception e) {
                failure = add(failure, new IllegalStateException(e));
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    /**
     * Closes everything because of a failure, which stays the first thing to be told.
     *
     * @param cause what failed
     * @return the cause, to be thrown
     */
    public <E extends Exception> E closeAfter(E cause) {
        try {
            close();
        } catch (RuntimeException e) {
            cause.addSuppressed(e);
        }
        return cause;
    }

    private static RuntimeException add(@Nullable RuntimeException first, RuntimeException next) {
        if (first == null) {
            return next;
        }
        first.addSuppressed(next);
        return first;
    }
}
