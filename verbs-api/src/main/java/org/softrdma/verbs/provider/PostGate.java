package org.softrdma.verbs.provider;

/** The way into a queue: one thread at a time. Allocates nothing. */
public interface PostGate {
    /** Waits until the queue is free; refuses a thread that may not post. */
    void enter();

    /** Frees the queue, and then tells the device what was posted, if that is still to be done. */
    void exit();
}
