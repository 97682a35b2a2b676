package org.softrdma.stores.connection;

import java.util.ArrayList;
import java.util.List;
import org.agrona.CloseHelper;
import org.softrdma.stores.StoreException;
import org.softrdma.verbs.VerbsException;

/** What was opened so far, to be closed together, the last one first. One thread. */
public final class OpenParts implements AutoCloseable {
    private final List<AutoCloseable> objects = new ArrayList<>();

    /** Nothing yet. */
    public OpenParts() {}

    /** Adds one. */
    public <T extends AutoCloseable> T add(T object) {
        objects.add(object);
        return object;
    }

    /**
     * Closes all because of a failure.
     *
     * @param cause what failed
     * @param what could not be made, for people
     * @return what to throw: a {@link StoreException} if a device failed, else the cause
     */
    public RuntimeException closeAfter(RuntimeException cause, String what) {
        close();
        return cause instanceof VerbsException ? new StoreException(what + ": " + cause.getMessage(), cause) : cause;
    }

    @Override
    public void close() {
        CloseHelper.closeAll(objects.reversed());
        objects.clear();
    }
}
