package org.softrdma.verbs.provider;

import java.util.concurrent.locks.ReentrantLock;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/**
 * How many objects of each kind live in a protection domain, which cannot be closed before they are gone. Thread-safe.
 */
public final class DomainContents {
    private final ReentrantLock lock = new ReentrantLock();
    private final Closing closing = new Closing();
    private final int[] live = new int[Kind.COUNT];
    private boolean closed;

    /** What can live in a domain. */
    public enum Kind {
        /** A memory region. */
        MEMORY_REGION("memory regions"),
        /** A memory window. */
        MEMORY_WINDOW("memory windows"),
        /** A queue pair. */
        QUEUE_PAIR("queue pairs"),
        /** A shared receive queue. */
        SHARED_RECEIVE_QUEUE("shared receive queues"),
        /** An address handle. */
        ADDRESS_HANDLE("address handles");

        private static final int COUNT = values().length;

        private final String plural;

        Kind(String plural) {
            this.plural = plural;
        }
    }

    /** Of a new domain. */
    public DomainContents() {}

    /**
     * An object is about to be made.
     *
     * @param kind of the object
     * @throws IllegalStateException if the domain is closed
     */
    public void opened(Kind kind) {
        lock.lock();
        try {
            if (closed) {
                throw new IllegalStateException("the protection domain is closed");
            }
            live[kind.ordinal()]++;
        } finally {
            lock.unlock();
        }
    }

    /**
     * An object is gone, or was not made.
     *
     * @param kind of the object
     */
    public void closed(Kind kind) {
        lock.lock();
        try {
            live[kind.ordinal()]--;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Closes the domain, as {@link Closing} does.
     *
     * @param action what closing it is, once nothing lives in it
     * @throws VerbsException {@code BUSY} if anything lives in it
     */
    public void close(Runnable action) {
        closing.once(() -> {
            closeIfEmpty();
            action.run();
        });
    }

    private void closeIfEmpty() {
        lock.lock();
        try {
            String users = users();
            if (!users.isEmpty()) {
                closing.stillOpen();
                throw new VerbsException(VerbsErrorCode.BUSY, users + " still use this protection domain");
            }
            closed = true;
        } finally {
            lock.unlock();
        }
    }

    private String users() {
        StringBuilder users = new StringBuilder();
        for (Kind kind : Kind.values()) {
            if (live[kind.ordinal()] > 0) {
                users.append(users.isEmpty() ? "" : ", ")
                        .append(live[kind.ordinal()])
                        .append(' ')
                        .append(kind.plural);
            }
        }
        return users.toString();
    }

    /** It could not be closed after all, and is as it was before {@link #close}. From the action. */
    public void stillOpen() {
        lock.lock();
        try {
            closed = false;
            closing.stillOpen();
        } finally {
            lock.unlock();
        }
    }
}
