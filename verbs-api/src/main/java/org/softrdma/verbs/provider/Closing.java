package org.softrdma.verbs.provider;

/**
 * Closes an object once. Whoever closes it meanwhile in another thread returns when that is done, because what close promises must
 * hold for every caller whose close has returned; whoever closes it from within its closing returns at once.
 *
 * <p>A monitor and not a lock object: there are millions of memory regions, and a monitor that nobody waits for takes no memory.
 * What is closed must not wait for a thread that may close it, too.
 */
public final class Closing {
    private volatile boolean begun;

    /** Of an object that is open. */
    public Closing() {}

    /** True once closing has begun; the object is not to be used any more. */
    public boolean hasBegun() {
        return begun;
    }

    /**
     * Closes unless that was done, and returns when it is done.
     *
     * @param action closes; if it throws, the object counts as closed unless it has called {@link #stillOpen}
     */
    public void once(Runnable action) {
        synchronized (this) {
            if (!begun) {
                begun = true;
                action.run();
            }
        }
    }

    /** The object could not be closed and is open again. From the action. */
    public void stillOpen() {
        begun = false;
    }
}
