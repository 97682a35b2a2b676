package org.softrdma.sim.samehost;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.net.kernel.LocalSocket;
import org.softrdma.net.kernel.SealedMemory;
import org.softrdma.sim.memory.MemoryOperations;

/**
 * The connections that this side has accepted and that have not ended: whoever holds the other end of one may come for
 * shared memory, once. What they say they have read counts as this device's answers. Thread-safe.
 */
final class AcceptedPeers {
    private static final Logger LOG = LoggerFactory.getLogger(AcceptedPeers.class);

    private final MemoryOperations memory = new MemoryOperations();
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<TcpEnds, Accepted> peers = new HashMap<>();
    /** By connections that have ended. */
    private long endedReads;

    private long endedBytes;

    /** A connection is being accepted. */
    Accepted add(TcpEnds ends, int domain) {
        Accepted peer = new Accepted(ends, domain);
        lock.lock();
        try {
            peers.put(ends, peer);
        } finally {
            lock.unlock();
        }
        return peer;
    }

    @Nullable
    Accepted find(TcpEnds ends) {
        lock.lock();
        try {
            return peers.get(ends);
        } finally {
            lock.unlock();
        }
    }

    /** The number of READs, and of their bytes, that peers say they have done. */
    long[] totals() {
        lock.lock();
        try {
            long reads = endedReads;
            long bytes = endedBytes;
            for (Accepted peer : peers.values()) {
                peer.look();
                reads += peer.reads;
                bytes += peer.bytes;
            }
            return new long[] {reads, bytes};
        } finally {
            lock.unlock();
        }
    }

    /** Says something to a peer that has come. */
    @FunctionalInterface
    interface Greeting {
        /** Sends a descriptor, without waiting. */
        void send(int descriptor) throws IOException;
    }

    /** An accepted connection, until it ends. Thread-safe. */
    final class Accepted implements PeerAdmission {
        private final TcpEnds ends;
        private final int domain;
        // Under the lock.
        private boolean ended;
        private @Nullable SealedMemory counts;
        private @Nullable ConnectionLife life;
        private @Nullable LocalSocket client;
        private long reads;
        private long bytes;

        private Accepted(TcpEnds ends, int domain) {
            this.ends = ends;
            this.domain = domain;
        }

        /** The protection domain of its queue pair. */
        int domain() {
            return domain;
        }

        /**
         * Its peer has come.
         *
         * @param page where it says what it has read, closed with this, or now
         * @param socket by which it came
         * @param greeting gets the descriptor that says how long the connection lives
         * @throws IOException if the connection has ended, or somebody was here before
         */
        void admit(SealedMemory page, LocalSocket socket, Greeting greeting) throws IOException {
            lock.lock();
            try {
                if (ended || client != null) {
                    page.close();
                    throw new IOException(ended ? "the connection has ended" : "somebody was here before");
                }
                counts = page;
                client = socket;
                life = new ConnectionLife();
                greeting.send(life.descriptor());
            } finally {
                lock.unlock();
            }
        }

        boolean hasEnded() {
            lock.lock();
            try {
                return ended;
            } finally {
                lock.unlock();
            }
        }

        /**
         * Numbers that fall are not believed. A page that the machine cannot bring says no more: what is known stays, and the
         * connection goes on, or ends.
         */
        private void look() {
            SealedMemory page = counts;
            if (page == null) {
                return;
            }
            try {
                long saidReads = ReadCounts.reads(page.address());
                long saidBytes = ReadCounts.bytes(page.address());
                // Compiled code throws what the lines above have met at its next safepoint, which is in this call.
                int ignored = memory.touch(page.address(), ReadCounts.USED_BYTES);
                reads = Math.max(reads, saidReads);
                bytes = Math.max(bytes, saidBytes);
            } catch (InternalError e) {
                LOG.debug("what the peer of {} reads is not counted any more", ends, e);
                counts = null;
                page.close();
            }
        }

        /** The connection has ended. */
        @Override
        public void close() {
            lock.lock();
            try {
                if (ended) {
                    return;
                }
                ended = true;
                peers.remove(ends, this);
                look();
                endedReads += reads;
                endedBytes += bytes;
                if (life != null) {
                    life.close();
                    life = null;
                }
                if (counts != null) {
                    counts.close();
                    counts = null;
                }
                if (client != null) {
                    client.shutdown();
                }
            } finally {
                lock.unlock();
            }
        }
    }
}
