package org.softrdma.sim.device;

import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/**
 * How many objects a device may have beside its own limits, so that a simulated machine can run out of them.
 * Thread-safe.
 */
public interface ResourceQuota {
    /** No limit. */
    ResourceQuota NONE = new ResourceQuota() {
        @Override
        public void take(Kind kind) {
            // There is always more.
        }

        @Override
        public void giveBack(Kind kind) {
            // Nobody counts.
        }
    };

    /** What is counted. */
    enum Kind {
        /** A registration. */
        MEMORY_REGION,
        /** A queue pair. */
        QUEUE_PAIR
    }

    /**
     * One more is about to be made.
     *
     * @throws VerbsException {@link VerbsErrorCode#NO_RESOURCES} if there may not be one more; then nothing has changed
     */
    void take(Kind kind);

    /** One is gone, or was not made after all. */
    void giveBack(Kind kind);
}
