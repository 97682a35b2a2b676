package org.softrdma.testkit.history;

import java.util.Arrays;

/** Numbers on top of each other, without boxes. Single thread. */
final class IntStack {
    private int[] elements = new int[16];
    private int size;

    int size() {
        return size;
    }

    boolean isEmpty() {
        return size == 0;
    }

    void push(int element) {
        if (size == elements.length) {
            elements = Arrays.copyOf(elements, 2 * size);
        }
        elements[size++] = element;
    }

    int pop() {
        return elements[--size];
    }

    int top() {
        return elements[size - 1];
    }

    /** The n-th from the bottom. */
    int at(int n) {
        return elements[n];
    }

    void set(int n, int element) {
        elements[n] = element;
    }

    /** Leaves so many at the bottom. */
    void truncate(int count) {
        size = count;
    }
}
