package org.softrdma.sim.engine;

import org.jspecify.annotations.Nullable;
import org.softrdma.net.transport.LoopGuard;

/**
 * A queue that stays whole when there is no memory to add to it. An {@code ArrayDeque} grows after it has added, and seems
 * empty if that fails: everything in it would be lost. Not thread-safe.
 *
 * @param <T> what waits
 */
public final class EnduringQueue<T> {
    private static final int FIRST_CAPACITY = 16;

    /** A power of two of places. */
    private @Nullable Object[] elements = new Object[FIRST_CAPACITY];

    private int first;
    private int size;

    /** How many wait. */
    public int size() {
        return size;
    }

    /** True if none waits. */
    public boolean isEmpty() {
        return size == 0;
    }

    /** Adds one behind the others, or throws and adds nothing. */
    public void addLast(T element) {
        if (size == elements.length) {
            grow();
        }
        elements[place(size)] = element;
        size++;
    }

    /** Adds one behind the others. Waits for memory, if need be: without this one something would be lost, a request or an end. */
    public void addLastAnyway(T element) {
        boolean added = false;
        while (!added) {
            try {
                addLast(element);
                added = true;
            } catch (OutOfMemoryError e) {
                LoopGuard.pause();
            }
        }
    }

    private void grow() {
        @Nullable Object[] more = new Object[2 * elements.length];
        for (int i = 0; i < size; i++) {
            more[i] = elements[place(i)];
        }
        elements = more;
        first = 0;
    }

    private int place(int index) {
        return (first + index) & (elements.length - 1);
    }

    /** The one that has waited longest, or null. It stays. */
    @SuppressWarnings("unchecked") // only T is added
    public @Nullable T peekFirst() {
        return (T) elements[first];
    }

    /** Takes the one that has waited longest, or null. */
    public @Nullable T pollFirst() {
        T element = peekFirst();
        if (element != null) {
            elements[first] = null;
            first = place(1);
            size--;
        }
        return element;
    }
}
