package org.softrdma.sim;

/** Who drives a device. */
public enum ProgressMode {
    /** Threads of its own; no application thread is needed to serve a peer. */
    ENGINE,
    /** The application thread that opened it, by polling; no hand-over between threads. */
    MANUAL
}
