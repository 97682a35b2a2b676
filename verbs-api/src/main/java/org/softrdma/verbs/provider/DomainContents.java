package org.softrdma.verbs.provider;

import java.util.concurrent.locks.ReentrantLock;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/**
 * How many memory regions and queue pairs live in a protection domain, which cannot be closed before they are.
 * Thread-safe.
 */
public final class DomainContents {
    private final ReentrantLock lock = new ReentrantLock();
    private final Closing closing = new Closing();
    private int regions;
    private int queuePairs;
    private boolean closed;

    /** Of a new domain. */
    public DomainContents() {}

    /**
     * A region is about to be registered.
     *
     * @throws IllegalStateException if the domain is closed
     */
    public void regionOpened() {
        lock.lock();
        try {
            checkOpen();
            regions++;
        } finally {
            lock.unlock();
        }
    }

    /** A region is gone, or was not registered. */
    public void regionClosed() {
        lock.lock();
        try {
            regions--;
        } finally {
            lock.unlock();
        }
    }

    /**
     * A queue pair is about to be created.
     *
     * @throws IllegalStateException if the domain is closed
     */
    public void queuePairOpened() {
        lock.lock();
        try {
            checkOpen();
            queuePairs++;
        } finally {
            lock.unlock();
        }
    }

    /** A queue pair is gone, or was not created. */
    public void queuePairClosed() {
        lock.lock();
        try {
            queuePairs--;
        } finally {
            lock.unlock();
        }
    }

    private void checkOpen() {
        if (closed) {
            throw new IllegalStateException("the protection domain is closed");
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
            if (regions > 0 || queuePairs > 0) {
                closing.stillOpen();
                throw new VerbsException(
                        VerbsErrorCode.BUSY,
                        regions + " memory regions and " + queuePairs
                                + " queue pairs still use this protection domain");
            }
            closed = true;
        } finally {
            lock.unlock();
        }
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
