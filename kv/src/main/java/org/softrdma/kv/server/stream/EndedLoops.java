package org.softrdma.kv.server.stream;

import java.util.function.Consumer;

/** Tells the server when a loop's thread ends that should not. Any thread. */
final class EndedLoops implements Runnable {
    private final Consumer<? super Throwable> failed;
    private volatile boolean expected;

    EndedLoops(Consumer<? super Throwable> failed) {
        this.failed = failed;
    }

    /** From now on they may end. */
    void expect() {
        expected = true;
    }

    @Override
    public void run() {
        if (!expected) {
            failed.accept(new IllegalStateException("a thread of the memcached port has ended"));
        }
    }
}
