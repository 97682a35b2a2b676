package org.softrdma.kv.server.watch;

/** The connection of a client that watches. */
public interface WatcherOutput {
    /** Lets the connection's thread call {@link Watcher#send} soon. Any thread. */
    void sendLater();

    /**
     * True if the client takes more; if not, the connection's thread calls {@link Watcher#send} again once it does. By
     * the connection's thread.
     */
    boolean hasRoom();

    /**
     * Sends lines. By the connection's thread.
     *
     * @param lines whole ones
     */
    void send(byte[] lines);
}
