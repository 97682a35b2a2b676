package org.softrdma.sim.capture;

import java.net.InetSocketAddress;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The connections of a capture, each once: if both ends belong to the captured transport, the end that came first.
 *
 * <p>Thread-safe: any event loop of the transport.
 */
final class CapturedConnections {
    private static final int SEQUENCE_STEP = 100_003;

    private final PcapngFile file;
    private final ReentrantLock lock = new ReentrantLock();
    private final Set<Ends> captured = new HashSet<>();
    private int sequence;

    private record Ends(InetSocketAddress local, InetSocketAddress remote) {}

    /**
     * None yet.
     *
     * @param file they are written to
     */
    CapturedConnections(PcapngFile file) {
        this.file = file;
    }

    /**
     * A connection was established.
     *
     * @param local address of this end
     * @param remote address of the other end
     * @param active true if this end has connected
     * @return where to capture it, or null if its other end is captured
     */
    @Nullable
    CapturedStream open(InetSocketAddress local, InetSocketAddress remote, boolean active) {
        int first;
        lock.lock();
        try {
            if (captured.contains(new Ends(remote, local))) {
                return null;
            }
            captured.add(new Ends(local, remote));
            // Different for each connection, because ports are reused.
            sequence += SEQUENCE_STEP;
            first = sequence;
        } finally {
            lock.unlock();
        }
        return new CapturedStream(file, local, remote, active, first);
    }

    /** A captured connection was closed. The other end of a next one with its addresses may be captured. */
    void closed(CapturedStream stream) {
        lock.lock();
        try {
            captured.remove(new Ends(stream.localAddress(), stream.remoteAddress()));
        } finally {
            lock.unlock();
        }
    }
}
