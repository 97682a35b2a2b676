package org.softrdma.sim.samehost;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.net.kernel.SealedMemory;
import org.softrdma.net.kernel.Shortage;
import org.softrdma.sim.memory.MemoryOperations;
import org.softrdma.sim.memory.Quiescence;
import org.softrdma.sim.memory.StagTable;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/**
 * A device's part in READs on the same host: what it shows to others, and what others have shown to it. It answers
 * beside
 * each of its listeners from the beginning, because memory may be shown to a connection that is there already.
 * Thread-safe.
 */
public final class SameHost implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(SameHost.class);
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(2);
    /** For tests, which must not depend on how busy the machine is. */
    private static final long LONG_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(30);
    /** Visits that may wait for their turn; a connection beyond them goes over TCP alone. */
    private static final int MOST_VISITS = 4096;

    /** Whether, and when, a connection asks for its peer's memory. */
    public enum Mode {
        /** Never; and nothing is shown to anybody. */
        OFF,
        /** In the background, once it is established. */
        AUTO,
        /** Before it is established, which then waits for the answer. For tests. */
        AT_ONCE
    }

    private final StagTable stags;
    private final Quiescence quiescence;
    private final MemoryOperations operations;
    private final SharedFiles files;
    private final ShareableMemory memory;
    private final SharedTable table;
    private final AcceptedPeers accepted = new AcceptedPeers();
    private final HandoverClient handover;
    private final PeerMappings mappings = new PeerMappings();
    private final @Nullable ThreadPoolExecutor background;
    private final Executor visits;

    private final ReentrantLock lock = new ReentrantLock();
    // Under the lock.
    private final Map<InetSocketAddress, HandoverServer> servers = new HashMap<>();
    private final Set<PeerMemory> peers = new HashSet<>();
    private long endedReads;
    private long endedBytes;

    private SameHost(String device, Mode mode, StagTable stags, Quiescence quiescence, MemoryOperations operations)
            throws IOException {
        this.stags = stags;
        this.quiescence = quiescence;
        this.operations = operations;
        files = new SharedFiles();
        memory = new ShareableMemory(files);
        table = new SharedTable(files, memory);
        handover = new HandoverClient(mode == Mode.AUTO ? TIMEOUT_NS : LONG_TIMEOUT_NS);
        background = mode == Mode.AUTO ? background(device + " same host") : null;
        visits = background == null ? Runnable::run : background;
        stags.mirror(table);
    }

    /**
     * Of a device that is being opened.
     *
     * @param device its name
     * @param mode how it takes part
     * @param stags its regions, none yet
     * @param quiescence the threads that use its memory
     * @param operations its copies
     * @return empty if it takes no part, or cannot here
     * @throws VerbsException {@code NO_RESOURCES} if it could at another time
     */
    public static Optional<SameHost> of(
            String device, Mode mode, StagTable stags, Quiescence quiescence, MemoryOperations operations) {
        if (mode == Mode.OFF || !isLinux()) {
            return Optional.empty();
        }
        try {
            return Optional.of(new SameHost(device, mode, stags, quiescence, operations));
        } catch (IOException e) {
            refuseForNow("shared memory for READs on the same host", e);
            LOG.info("{}: READs on the same host go over TCP: {}", device, e.getMessage());
            return Optional.empty();
        }
    }

    /** What is missing now but not always is no reason to do without for as long as a device or a listener lives. */
    private static void refuseForNow(String what, IOException cause) {
        if (Shortage.is(cause)) {
            throw new VerbsException(
                    VerbsErrorCode.NO_RESOURCES, what + " cannot be made now: " + cause.getMessage(), cause);
        }
    }

    private static boolean isLinux() {
        return Files.isDirectory(Path.of("/proc/self/fd"));
    }

    /** Why it cannot be done on this machine, empty if it can. */
    public static Optional<String> obstacle() {
        if (!isLinux()) {
            return Optional.of("it needs Linux");
        }
        try {
            SealedMemory.create("softrdma trial", 1).close();
            return Optional.empty();
        } catch (IOException e) {
            return Optional.of("the kernel seals no memory (" + e.getMessage() + ")");
        }
    }

    private static ThreadPoolExecutor background(String name) {
        ThreadPoolExecutor one = new ThreadPoolExecutor(
                1,
                1,
                1,
                TimeUnit.SECONDS,
                new ArrayBlockingQueue<>(MOST_VISITS),
                task -> Thread.ofPlatform().daemon().name(name).unstarted(task));
        one.allowCoreThreadTimeOut(true);
        return one;
    }

    // ---- what this device shows

    /**
     * Allocates memory that accepted peers on this host may read.
     *
     * @param length bytes, at least 1
     * @throws VerbsException {@code NO_RESOURCES} if the machine has not that much
     */
    public HostMemory allocate(long length) {
        return memory.allocate(length);
    }

    /**
     * The device listens.
     *
     * @throws VerbsException {@code NO_RESOURCES} if no descriptor is left
     */
    public void listening(InetSocketAddress address) {
        lock.lock();
        try {
            HandoverServer server =
                    new HandoverServer(HandoverServer.name(address), accepted, files, stags.rkeySecrets());
            servers.put(address, server);
            server.start();
        } catch (IOException e) {
            refuseForNow("the answer to peers on this host", e);
            LOG.info("READs of peers on this host that connect to {} go over TCP: {}", address, e.getMessage());
        } finally {
            lock.unlock();
        }
    }

    /** The device does not listen there any more. */
    public void stoppedListening(InetSocketAddress address) {
        HandoverServer server;
        lock.lock();
        try {
            server = servers.remove(address);
        } finally {
            lock.unlock();
        }
        if (server != null) {
            server.close();
        }
    }

    /**
     * A connection is being accepted: its peer may come.
     *
     * @param local this end
     * @param remote the end that connected
     * @param domain protection domain of its queue pair
     * @return to be closed when the connection ends; null if the peer is elsewhere
     */
    public @Nullable PeerAdmission accepting(InetSocketAddress local, InetSocketAddress remote, int domain) {
        return TcpEnds.mayBeHere(local, remote) ? accepted.add(TcpEnds.of(remote, local), domain) : null;
    }

    // ---- what others show

    /**
     * A connection that this side began is established.
     *
     * @param local this end
     * @param remote the end that accepted
     * @return what the peer will have handed over, to be given to {@link #ended}; null if the peer is elsewhere
     */
    public @Nullable PeerMemory connected(InetSocketAddress local, InetSocketAddress remote) {
        if (!TcpEnds.mayBeHere(local, remote)) {
            return null;
        }
        PeerMemory peer;
        try {
            peer = new PeerMemory(operations, new ReadCounts(), quiescence.newEpoch(), mappings, this::askAgain);
        } catch (IOException e) {
            LOG.debug("READs from {} go over TCP", remote, e);
            return null;
        }
        lock.lock();
        try {
            peers.add(peer);
        } finally {
            lock.unlock();
        }
        inBackground(() -> handover.take(peer, TcpEnds.of(local, remote), remote));
        return peer;
    }

    private void askAgain(PeerMemory peer) {
        inBackground(() -> handover.takeAgain(peer));
    }

    private void inBackground(Visit visit) {
        try {
            visits.execute(() -> {
                try {
                    visit.run();
                } catch (IOException e) {
                    LOG.debug("READs go over TCP", e);
                }
            });
        } catch (RejectedExecutionException e) {
            LOG.debug("READs go over TCP: too many connections at once, or the device is closed");
        }
    }

    /** Something with the peer that may fail. */
    @FunctionalInterface
    private interface Visit {
        void run() throws IOException;
    }

    /** The queue pair is gone, and no thread reads from the peer's memory any more. */
    public void ended(PeerMemory peer) {
        lock.lock();
        try {
            if (!peers.remove(peer)) {
                return;
            }
            endedReads += peer.counts().reads();
            endedBytes += peer.counts().bytes();
        } finally {
            lock.unlock();
        }
        peer.close();
        quiescence.giveBack(peer.epoch());
    }

    // ---- counters

    /** Adds the counters to a snapshot: what peers have read counts as answered by this device. */
    public void addTo(Map<String, Long> snapshot) {
        long[] totals = accepted.totals();
        snapshot.merge("responderReads", totals[0], Long::sum);
        snapshot.merge("responderReadBytes", totals[1], Long::sum);
        snapshot.put("sameHostResponderReads", totals[0]);
        lock.lock();
        try {
            long reads = endedReads;
            long bytes = endedBytes;
            for (PeerMemory peer : peers) {
                reads += peer.counts().reads();
                bytes += peer.counts().bytes();
            }
            snapshot.put("sameHostReads", reads);
            snapshot.put("sameHostReadBytes", bytes);
        } finally {
            lock.unlock();
        }
    }

    /** Ends it: no connection is left. Memory that was allocated stays. */
    @Override
    public void close() {
        if (background != null) {
            background.shutdownNow();
        }
        List<HandoverServer> left;
        lock.lock();
        try {
            left = new ArrayList<>(servers.values());
            servers.clear();
        } finally {
            lock.unlock();
        }
        left.forEach(HandoverServer::close);
        table.close();
        files.close();
    }
}
