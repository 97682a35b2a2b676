package org.softrdma.kv.server.watch;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A connection that watches. Lines of any thread gather in a buffer of bounded length, which the connection's thread
 * sends as the client takes it; what does not fit is counted, and the client told.
 */
public final class Watcher {
    private final int events;
    private final int bufferBytes;
    private final WatcherOutput output;
    private final ReentrantLock lock = new ReentrantLock();

    // Guarded by the lock.
    private ByteArrayOutputStream waiting = new ByteArrayOutputStream();
    private long skipped;
    private boolean sending;

    /**
     * One that has seen nothing yet.
     *
     * @param events what it wants to see
     * @param bufferBytes that may wait
     * @param output its connection
     */
    public Watcher(int events, int bufferBytes, WatcherOutput output) {
        this.events = events;
        this.bufferBytes = bufferBytes;
        this.output = output;
    }

    int events() {
        return events;
    }

    /** Adds a line; false if there is no room for it. Any thread. */
    boolean tell(byte[] line) {
        boolean begin;
        lock.lock();
        try {
            if (waiting.size() + line.length > bufferBytes) {
                skipped++;
                return false;
            }
            if (skipped > 0) {
                waiting.writeBytes(("skipped=" + skipped + "\n").getBytes(StandardCharsets.US_ASCII));
                skipped = 0;
            }
            waiting.writeBytes(line);
            begin = !sending;
            sending = true;
        } finally {
            lock.unlock();
        }
        if (begin) {
            output.sendLater();
        }
        return true;
    }

    /** Sends what waits if the client takes it. By the connection's thread, which calls again when there is room. */
    public void send() {
        if (!output.hasRoom()) {
            return;
        }
        byte[] lines;
        lock.lock();
        try {
            lines = waiting.toByteArray();
            waiting = new ByteArrayOutputStream();
            sending = false;
        } finally {
            lock.unlock();
        }
        if (lines.length > 0) {
            output.send(lines);
        }
    }
}
