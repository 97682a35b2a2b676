package org.softrdma.verbs.provider;

/**
 * Closes an object once. If another thread closes it meanwhile, its call returns when that is done: what close
 * promises must hold for every caller whose call has returned. A close from within the closing returns at once.
 *
 * <p>It uses a monitor and not a lock object: there are millions of memory regions, and a monitor that nobody waits
 * for takes no memory. The closing must not wait for a thread that may close the same object.
 */
public final class Closing {
    private volatile boolean begun;

    /** Of an object that is open. */
    public Closing() {}

    /** True once closing has begun: the object must not be used any more. */
    public boolean hasBegun() {
        return begun;
    }

    /**
     * Closes the object unless that was done, and returns when it is done.
     *
     * @param action closes; if it throws, the object counts as closed unless it has called {@link #stillOpen}
     */
    public void once(Runnable action) {
        run(action, true);
    }

    /**
     * Does something that closing must not overtake.
     *
     * @param action short; it must not wait for a thread that may close the same object
     * @return false if closing has begun: the action was not run
     */
    public boolean whileOpen(Runnable action) {
        return run(action, false);
    }

    private boolean run(Runnable action, boolean closes) {
        synchronized (this) {
            if (begun) {
                return false;
            }
            begun = closes;
            action.run();
            return true;
        }
    }

    /** The object could not be closed and is open again. Call it from the action. */
    public void stillOpen() {
        begun = false;
    }
}
