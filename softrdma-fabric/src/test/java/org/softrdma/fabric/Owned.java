package org.softrdma.fabric;

import java.util.ArrayDeque;
import java.util.Deque;

/** What a test has opened, closed in reverse order. */
final class Owned implements AutoCloseable {
    private final Deque<AutoCloseable> resources = new ArrayDeque<>();

    /** Closes it with this; returns it. */
    <T extends AutoCloseable> T add(T resource) {
        resources.push(resource);
        return resource;
    }

    @Override
    public void close() {
        while (!resources.isEmpty()) {
            AutoCloseable resource = resources.pop();
            try {
                resource.close();
            } catch (RuntimeException e) {
                throw e;
            } catch (Exception e) {
                throw new AssertionError("closing " + resource, e);
            }
        }
    }
}
