package org.softrdma.stores.connection;

/** What a server remembers of a client, connected or not: what it is, the design says. Owned by the server's thread. */
public abstract class ClientSession {
    private final int serial;
    private boolean connected;
    private long usedNs;

    /**
     * A session.
     *
     * @param serial tells it from every other session of the server
     */
    protected ClientSession(int serial) {
        this.serial = serial;
    }

    /** Tells it from every other session of this server. A client that has kept it knows whether it is remembered. */
    public final int serial() {
        return serial;
    }

    /** The client has come, or has gone. */
    public final void connected(boolean nowConnected, long nowNs) {
        connected = nowConnected;
        usedNs = nowNs;
    }

    final boolean isConnected() {
        return connected;
    }

    final long usedNs() {
        return usedNs;
    }
}
