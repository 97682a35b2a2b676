package org.softrdma.farm.store;

import java.util.ArrayList;
import java.util.List;
import org.agrona.CloseHelper;

/** Objects that are closed together, the last one first. One thread. */
final class OpenParts implements AutoCloseable {
    private final List<AutoCloseable> objects = new ArrayList<>();

    /** Adds one. */
    <T extends AutoCloseable> T add(T object) {
        objects.add(object);
        return object;
    }

    @Override
    public void close() {
        CloseHelper.closeAll(objects.reversed());
        objects.clear();
    }
}
