package org.softrdma.fabric.network;

/** Sockets of a transport: how many are open, and when their peers count as gone. */
final class OpenCount {
    private final long hostTimeoutNs;
    private int count;

    /**
     * None is open.
     *
     * @param hostTimeoutNs how long a peer's host may say nothing; 0 for ever
     */
    OpenCount(long hostTimeoutNs) {
        this.hostTimeoutNs = hostTimeoutNs;
    }

    long hostTimeoutNs() {
        return hostTimeoutNs;
    }

    void opened() {
        count++;
    }

    void closed() {
        count--;
    }

    int count() {
        return count;
    }
}
