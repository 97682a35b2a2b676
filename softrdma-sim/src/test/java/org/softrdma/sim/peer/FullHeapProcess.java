package org.softrdma.sim.peer;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.softrdma.net.peer.FullHeap;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionChannel;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A server, a client that reads from it, or both in one process, whose heap is full again and again. Whatever that costs: each
 * READ has a completion, what a READ has brought is right, a queue pair that is ready works, and once there is memory again the
 * client can connect and read. Its exit code is 0 if so.
 */
public final class FullHeapProcess {
    static final String TRANSPORT = "full-heap.transport";
    static final String WIRE = "full-heap.wire";
    /** UDP port of the server, on wire=roce. */
    static final String ROCE_PORT = "full-heap.roce-port";

    static final String SAME_HOST = "full-heap.same-host";
    static final String IDLE_MS = "full-heap.idle.ms";
    static final String BUSY_MS = "full-heap.busy.ms";
    static final String PAUSE_MS = "full-heap.pause.ms";
    static final String SEED = "full-heap.seed";
    /** The client connects again after each READ. */
    static final String RECONNECTING = "full-heap.reconnecting";
    /** The client waits for completion events, and does not poll. */
    static final String EVENTS = "full-heap.events";
    /** Where the client finds its server, in another process: port, address of the memory, rkey. */
    static final String SERVER = "full-heap.server";
    /** It is only a server, which says where it is, until its input ends. */
    static final String ONLY_SERVER = "full-heap.only-server";

    /** The first connection is made when the heap is full. */
    static final String COLD = "full-heap.cold";

    private static final boolean COLD_CONNECT = Boolean.getBoolean(COLD);
    private static final int BYTES = 1 << 20;
    private static final int MOST_READ = 16 << 10;
    private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(20);
    private static final long CONNECT_NS = TimeUnit.SECONDS.toNanos(10);
    private static final int LAST_READS = 100;
    private static final int MOST_PAIRS = 1024;
    private static final long NEXT_NS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final QueuePairLimits SMALL = new QueuePairLimits(1, 1, 1, 1, 0);

    private final String transport = System.getProperty(TRANSPORT, "auto");
    private final String wire = System.getProperty(WIRE, "iwarp");
    private final long seed = Long.getLong(SEED, 1);
    private final boolean reconnecting = Boolean.getBoolean(RECONNECTING);
    private final boolean events = Boolean.getBoolean(EVENTS);

    private volatile @Nullable Throwable notAccepted;

    private FullHeapProcess() {}

    private VerbsDevice open() {
        Map<String, String> options = new HashMap<>(Map.of(
                "wire",
                wire,
                "transport",
                transport,
                "same-host",
                System.getProperty(SAME_HOST, "off"),
                "pinning",
                "off"));
        String port = System.getProperty(ROCE_PORT);
        if (port != null) {
            options.put("roce-port", port); // the client has any other, since it only connects
        }
        return new SoftRdmaProvider().open(options);
    }

    private static byte content(long at) {
        return (byte) (at * 31 + (at >> 8));
    }

    private static void fail(Client client, String what) {
        client.say("FAILED: " + what);
        Runtime.getRuntime().halt(1);
    }

    /** Memory to read from, and a thread that accepts. */
    private final class Server {
        private final MemorySegment source = Arena.global().allocate(BYTES, 64);
        private final ProtectionDomain domain;
        private final CompletionQueue queue;
        private final Listener listener;
        private final RemoteRegion remote;
        private final QueuePair[] made = new QueuePair[MOST_PAIRS];
        private int count;

        Server() {
            for (int i = 0; i < BYTES; i++) {
                source.set(ValueLayout.JAVA_BYTE, i, content(i));
            }
            VerbsDevice device = open();
            domain = device.allocateProtectionDomain();
            remote = domain.register(source, Set.of(AccessFlag.REMOTE_READ)).remote();
            queue = device.createCompletionQueue(1024);
            listener = device.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 64);
            Thread accepting = new Thread(this::acceptAll, "accepting");
            accepting.setDaemon(true);
            accepting.start();
        }

        private void acceptAll() {
            while (true) {
                try {
                    ConnectionRequest request = listener.next(NEXT_NS).orElse(null);
                    if (request != null) {
                        accept(request);
                    }
                    closeEnded();
                } catch (RuntimeException | Error e) {
                    notAccepted = e; // the heap is full, or the peer has gone
                }
            }
        }

        private void accept(ConnectionRequest request) {
            try (request) {
                QueuePair pair = request.createQueuePair(domain, QueuePairAttributes.of(queue, SMALL));
                try {
                    request.accept(ConnectionParameters.ofReads(16));
                } catch (RuntimeException | Error e) {
                    pair.close();
                    throw e;
                }
                made[count] = pair;
                count++;
            }
        }

        private void closeEnded() {
            for (int i = 0; i < count; i++) {
                QueuePairState state = made[i].state();
                if (state == QueuePairState.ERROR) {
                    made[i].close();
                    made[i] = made[count - 1];
                    count--;
                }
            }
        }
    }

    /** Reads from a server, and checks each READ. */
    private final class Client {
        private final MemorySegment sink = Arena.global().allocate(MOST_READ, 64);
        private final WorkCompletion[] one = WorkCompletion.array(1);
        private final Random random = new Random(seed);
        private final VerbsDevice device = open();
        private final ProtectionDomain domain = device.allocateProtectionDomain();
        private final @Nullable CompletionChannel channel = events ? device.createCompletionChannel() : null;
        private final CompletionQueue queue =
                channel == null ? device.createCompletionQueue(64) : device.createCompletionQueue(64, channel, 0);
        private final MemoryRegion local = domain.register(sink, Set.of(AccessFlag.LOCAL_WRITE));
        private final InetSocketAddress server;
        private final long remoteAddress;
        private final int rkey;

        private @Nullable QueuePair pair;
        private @Nullable Throwable refusal;
        private long wrId;
        private long reads;
        private long failed;
        private long connections;
        private long refused;

        Client(int port, long remoteAddress, int rkey) {
            server = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
            this.remoteAddress = remoteAddress;
            this.rkey = rkey;
            int ignored = firstWrong(0, 1); // a first access needs memory
        }

        /** Connects; false if there is no memory for it, or no answer. */
        boolean connect() {
            try {
                closePair();
                try (Connector connector = device.resolve(server, CONNECT_NS)) {
                    pair = connector.createQueuePair(domain, QueuePairAttributes.of(queue, QueuePairLimits.DEFAULT));
                    connector.connect(ConnectionParameters.ofReads(16), CONNECT_NS);
                }
                connections++;
                return true;
            } catch (RuntimeException | Error e) {
                refused++;
                refusal = e;
                requireAnswer(e);
                return false;
            }
        }

        /** Whoever finds no memory says so, or closes the connection; only the JDK may forget one that it has accepted. */
        private void requireAnswer(Throwable e) {
            boolean silent = e instanceof VerbsException failure && failure.code() == VerbsErrorCode.TIMED_OUT;
            boolean excused = wire.equals("iwarp") && transport.equals("nio");
            if (silent && !excused) {
                fail(this, "no answer to a connect");
            }
        }

        private boolean connectWithin(long deadlineNs) {
            long startNs = System.nanoTime();
            boolean connected = connect();
            while (!connected && System.nanoTime() - startNs < deadlineNs) {
                connected = connect();
            }
            return connected;
        }

        private void closePair() {
            QueuePair old = pair;
            if (old != null) {
                old.close(); // finds no memory: it waits for some
                pair = null;
            }
        }

        /** Reads once; false if the connection has ended, or there is no memory. */
        boolean read() {
            QueuePair current = pair;
            if (current == null) {
                return false;
            }
            int length = 1 + random.nextInt(MOST_READ);
            long offset = random.nextInt(BYTES - length);
            wrId++;
            try {
                PostStatus posted =
                        current.postRead(wrId, local, 0, length, remoteAddress + offset, rkey, SendFlags.SIGNALLED);
                if (posted != PostStatus.ACCEPTED) {
                    fail(this, "posting: " + posted);
                }
            } catch (RuntimeException e) {
                return false; // the queue pair has ended
            } catch (Error e) {
                abandon();
                return false;
            }
            awaitCompletion(current);
            if (one[0].wrId() != wrId) {
                fail(this, "a completion of " + one[0].wrId() + " instead of " + wrId);
            }
            if (!one[0].isSuccess()) {
                failed++;
                if (current.state() == QueuePairState.READY_TO_SEND) {
                    fail(this, "a READ has failed, but the queue pair is ready");
                }
                return false;
            }
            int wrong = firstWrong(offset, length);
            if (wrong < length) {
                fail(this, "wrong byte at " + (offset + wrong));
            }
            reads++;
            return true;
        }

        /** The first byte that is not what the server has there; the length if all are right. */
        private int firstWrong(long offset, int length) {
            int at = 0;
            while (at < length && sink.get(ValueLayout.JAVA_BYTE, at) == content(offset + at)) {
                at++;
            }
            return at;
        }

        /** Whether the last READ was posted is not known. */
        private void abandon() {
            while (pair != null) {
                try {
                    closePair();
                } catch (OutOfMemoryError e) {
                    Thread.onSpinWait();
                }
            }
        }

        private void awaitCompletion(QueuePair current) {
            long startNs = System.nanoTime();
            boolean armed = false;
            while (poll() == 0) {
                if (System.nanoTime() - startNs > DEADLINE_NS) {
                    fail(this, "no completion of READ " + wrId + ", the queue pair is " + current.state());
                }
                if (channel == null) {
                    Thread.onSpinWait();
                } else if (armed) {
                    awaitEvent(channel);
                    armed = false;
                } else {
                    armed = arm(); // and looks once more: a completion that was there raises no event
                }
            }
        }

        private int poll() {
            while (true) {
                try {
                    return queue.poll(one, 1);
                } catch (OutOfMemoryError e) {
                    Thread.onSpinWait(); // it has taken nothing
                }
            }
        }

        private boolean arm() {
            try {
                queue.requestNotification(false);
                return true;
            } catch (OutOfMemoryError e) {
                return false;
            }
        }

        private void awaitEvent(CompletionChannel events) {
            try {
                if (events.await(DEADLINE_NS).isEmpty()) {
                    fail(this, "no event of READ " + wrId);
                }
                queue.acknowledgeEvents(1);
            } catch (OutOfMemoryError e) {
                Thread.onSpinWait(); // it has taken none
            }
        }

        void say(String what) {
            boolean said = false;
            while (!said) {
                try {
                    System.out.println(what + "; " + wire + ", " + transport + ", seed " + seed + ", READs " + reads
                            + ", failed " + failed + ", connections " + connections + ", refused " + refused + ": "
                            + refusal);
                    tellCauses("refused", refusal);
                    tellCauses("not accepted", notAccepted);
                    System.out.flush();
                    said = true;
                } catch (OutOfMemoryError e) {
                    Thread.onSpinWait();
                }
            }
        }

        private static void tellCauses(String what, @Nullable Throwable failure) {
            for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
                System.out.println("  " + what + " because of " + cause);
            }
        }

        void run(FullHeap heap) throws InterruptedException {
            if (!COLD_CONNECT && !connectWithin(DEADLINE_NS)) {
                fail(this, "cannot connect before the heap is full");
            }
            heap.fillFor(TimeUnit.MILLISECONDS.toNanos(Long.getLong(IDLE_MS, 0)));
            long busyNs = TimeUnit.MILLISECONDS.toNanos(Long.getLong(BUSY_MS, 0));
            Thread filling = new Thread(() -> heap.fillFor(busyNs), "filling");
            filling.start();
            while (filling.isAlive()) {
                if (!read() || reconnecting) {
                    connect();
                }
            }
            filling.join();
            long startNs = System.nanoTime();
            for (long goal = reads + LAST_READS; reads < goal; ) {
                if (!read() && !connect() && System.nanoTime() - startNs > DEADLINE_NS) {
                    fail(this, "cannot connect after the heap was full");
                }
            }
            say("went on");
        }
    }

    private void run() throws IOException, InterruptedException {
        FullHeap heap = new FullHeap(seed, Integer.getInteger(PAUSE_MS, 200));
        if (Boolean.getBoolean(ONLY_SERVER)) {
            serve(heap);
            return;
        }
        String server = System.getProperty(SERVER);
        if (server != null) {
            String[] words = server.split(" ", 3);
            new Client(Integer.parseInt(words[0]), Long.parseLong(words[1]), Integer.parseInt(words[2])).run(heap);
            return;
        }
        Server own = new Server();
        new Client(own.listener.localAddress().getPort(), own.remote.address(), own.remote.rkey()).run(heap);
    }

    private void serve(FullHeap heap) throws IOException {
        Server own = new Server();
        System.out.println(
                own.listener.localAddress().getPort() + " " + own.remote.address() + " " + own.remote.rkey());
        System.out.flush();
        long busyNs = TimeUnit.MILLISECONDS.toNanos(Long.getLong(BUSY_MS, 0));
        Thread filling = new Thread(() -> heap.fillFor(busyNs), "filling");
        filling.setDaemon(true);
        filling.start();
        while (System.in.read() >= 0) {
            // The client still runs.
        }
    }

    /**
     * Runs it.
     *
     * @param arguments none; properties say what
     */
    public static void main(String[] arguments) {
        try {
            new FullHeapProcess().run();
            System.exit(0);
        } catch (Throwable e) {
            tell(e);
            Runtime.getRuntime().halt(1);
        }
    }

    /** What the virtual machine says of an uncaught Error needs memory, too. */
    private static void tell(Throwable failure) {
        boolean told = false;
        while (!told) {
            try {
                failure.printStackTrace();
                told = true;
            } catch (OutOfMemoryError e) {
                Thread.onSpinWait();
            }
        }
    }
}
