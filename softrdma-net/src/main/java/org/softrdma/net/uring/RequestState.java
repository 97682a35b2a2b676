package org.softrdma.net.uring;

/** Where a request of a port is. */
enum RequestState {
    /** Not in the kernel. */
    OFF,
    /** In the kernel. */
    ARMED,
    /** In the kernel, and being cancelled: its last completion is to come. */
    ENDING
}
