package org.softrdma.kv.turns;

/** A thread of a client, as its owner sees it. Any thread. */
public interface OwnThread {
    /** True on the thread itself. */
    boolean isCurrent();

    /** Ends its present wait. */
    void interrupt();

    /** Returns when it has ended, however often the caller is interrupted meanwhile. */
    void join();
}
