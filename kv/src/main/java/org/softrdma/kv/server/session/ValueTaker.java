package org.softrdma.kv.server.session;

/** Told when the value behind a request has come. */
interface ValueTaker {
    /**
     * The value has come, or was skipped.
     *
     * @param terminated whether a line end follows it
     */
    void endValue(boolean terminated);
}
