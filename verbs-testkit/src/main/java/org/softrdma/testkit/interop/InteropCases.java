package org.softrdma.testkit.interop;

import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.softrdma.testkit.BytePattern;
import org.softrdma.testkit.Completion;
import org.softrdma.testkit.interop.ScriptMessage.Command;
import org.softrdma.testkit.interop.ScriptedPeer.Region;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRejectedException;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * The cases. Each is a method that returns if the peer and this side agree, and throws an {@link AssertionError} or a
 * {@link org.softrdma.verbs.VerbsException} otherwise. Caller's thread; the device must be in engine progress.
 */
public final class InteropCases {
    /** Edges of FPDUs, TCP segments, 16-bit lengths and pages. */
    private static final int[] SIZES = {
        1,
        2,
        3,
        4,
        5,
        63,
        64,
        65,
        1000,
        1023,
        1024,
        1025,
        1400,
        1436,
        1440,
        1448,
        1460,
        1500,
        4095,
        4096,
        4097,
        16_384,
        60_000,
        64_748,
        64_749,
        65_535,
        65_536,
        100_000,
        262_144,
        (1 << 20) - 1,
        1 << 20
    };

    private static final long SEED = 4711;
    private static final byte[] REJECT = "reject:".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] REASON = "not today".getBytes(StandardCharsets.US_ASCII);
    /** Of private data in REQ, REJ and REP. */
    private static final Set<Integer> PADDED_LENGTHS = Set.of(56, 148, 196);

    private static final Set<CompletionStatus> BROKEN_READ =
            Set.of(CompletionStatus.REMOTE_ACCESS_ERROR, CompletionStatus.FLUSHED);

    private final VerbsDevice device;
    private final InetSocketAddress remote;
    private final PrintWriter out;

    /**
     * Makes the cases.
     *
     * @param device this side
     * @param remote where the peer listens; for {@link #listen} where this side listens
     * @param out gets the progress, one line per step
     */
    public InteropCases(VerbsDevice device, InetSocketAddress remote, PrintWriter out) {
        this.device = device;
        this.remote = remote;
        this.out = out;
    }

    private ScriptedPeer connect(ConnectionParameters parameters) {
        return connect(remote, parameters);
    }

    private ScriptedPeer connect(InetSocketAddress to, ConnectionParameters parameters) {
        try (Connector connector = device.resolve(to, ScriptedPeer.TIMEOUT_NS)) {
            return ScriptedPeer.connect(device, connector, parameters);
        }
    }

    private void say(String line) {
        out.println(line);
        out.flush();
    }

    private static void require(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }

    /**
     * READ, WRITE and SEND of every size, requested by either side, with checksums.
     *
     * @param most the largest size in bytes, 0 for all sizes
     */
    public void sizes(int most) {
        try (ScriptedPeer peer = connect(ConnectionParameters.DEFAULT)) {
            say(peer.queuePair().connectionCapabilities().toString());
            sizes(peer, most == 0 ? ScriptedPeer.BUFFER_BYTES : most);
        }
    }

    private void sizes(ScriptedPeer peer, int most) {
        CheckedTransfers transfers = new CheckedTransfers(peer);
        int[] sizes = Arrays.stream(SIZES).filter(size -> size <= most).toArray();
        for (int size : sizes) {
            for (CheckedTransfers.Kind kind : CheckedTransfers.Kind.values()) {
                transfers.transfer(kind, size, 1, SEED * size + kind.ordinal());
            }
        }
        say(sizes.length + " sizes, six ways each");
    }

    /**
     * READ, WRITE and SEND in random order and sizes, requested by either side, for some time, with every byte checked.
     * This side connects.
     *
     * @param seconds how long
     * @param seed of all choices and contents
     */
    public void soak(int seconds, long seed) {
        try (ScriptedPeer peer = connect(ConnectionParameters.DEFAULT)) {
            soak(peer, seconds, seed);
        }
    }

    /**
     * Like {@link #soak}, but the peer connects.
     *
     * @param seconds how long
     * @param seed of all choices and contents
     */
    public void soakListening(int seconds, long seed) {
        try (Listener listener = device.listen(remote, 1)) {
            sayListening(listener);
            accept(listener, 0, peer -> soak(peer, seconds, seed));
        }
    }

    private void soak(ScriptedPeer peer, int seconds, long seed) {
        say(peer.queuePair().connectionCapabilities().wire());
        say(new Soak(peer, SIZES, seed).run(TimeUnit.SECONDS.toNanos(seconds)));
    }

    private void sayListening(Listener listener) {
        say("listening on port " + listener.localAddress().getPort());
    }

    /**
     * A SEND and its answer, and a WRITE, on a connection where neither side may READ.
     *
     * @param revision the MPA revision that must be negotiated
     */
    public void withoutReads(int revision) {
        try (ScriptedPeer peer = connect(ConnectionParameters.ofReads(0))) {
            String wire = peer.queuePair().connectionCapabilities().wire();
            say(wire);
            require(wire.contains("revision " + revision), "expected MPA revision " + revision + ", got " + wire);
            RemoteRegion open = peer.region(Region.OPEN);
            for (int size : SIZES) {
                long mine = peer.fill(size, size);
                require(peer.write(open.address(), open.rkey(), size).isSuccess(), "WRITE of " + size + " bytes");
                CheckedTransfers.requireSame(
                        mine, peer.ask(ScriptMessage.of(Command.CHECKSUM, size)).first(), "WRITE");
                peer.tell(ScriptMessage.of(Command.RECEIVE));
                peer.sendData(size);
                CheckedTransfers.requireSame(mine, peer.answer(Command.RECEIVE).first(), "SEND of " + size + " bytes");
                peer.tell(ScriptMessage.of(Command.SEND, size));
                CheckedTransfers.requireSame(mine, peer.receiveData(size), "the peer's SEND of " + size + " bytes");
                peer.answer(Command.SEND);
            }
        }
    }

    /**
     * Private data of each length from 0 to a limit, which the peer sends back.
     *
     * @param most the longest that the peer takes
     */
    public void privateData(int most) {
        List<Integer> lengths = new ArrayList<>(List.of(0, 1, 2, 3, 4, 5, 55, 56, 57, 127, 128, 196));
        lengths.removeIf(length -> length > most);
        lengths.addAll(List.of(most - 1, most));
        for (int length : lengths) {
            byte[] sent = bytes(length);
            try (ScriptedPeer peer = connect(ConnectionParameters.DEFAULT.withPrivateData(sent))) {
                byte[] came = peer.peersPrivateData();
                require(isSame(sent, came), length + " bytes of private data: " + came.length + " came back");
                peer.region(Region.OPEN);
            }
        }
        say("private data of " + lengths + " bytes came back");
    }

    /** True if this is what was sent, which zeros follow in the messages of RoCE. */
    private static boolean isSame(byte[] sent, byte[] came) {
        return Arrays.equals(PADDED_LENGTHS.contains(came.length) ? Arrays.copyOf(sent, came.length) : sent, came);
    }

    /** Bytes that differ from shifted ones, and do not begin with the request for a reject. */
    private static byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = new BytePattern(length).at(i);
        }
        return bytes;
    }

    /** The peer rejects, with private data; the next connection is accepted. */
    public void rejected() {
        byte[] request = Arrays.copyOf(REJECT, REJECT.length + REASON.length);
        System.arraycopy(REASON, 0, request, REJECT.length, REASON.length);
        try (ScriptedPeer peer = connect(ConnectionParameters.DEFAULT.withPrivateData(request))) {
            throw new AssertionError("expected a reject, got " + peer.queuePair());
        } catch (ConnectionRejectedException e) {
            require(
                    isSame(REASON, e.privateData()),
                    "the reject says '" + new String(e.privateData(), StandardCharsets.ISO_8859_1) + "'");
            say(String.valueOf(e.getMessage()));
        }
        withBystander(remote, () -> {});
    }

    /** A forbidden access to the other side's memory. */
    public enum Trespass {
        /** A READ with an unknown key. */
        READ_KEY(true, Region.OPEN),
        /** A READ one byte past the end. */
        READ_BOUNDS(true, Region.OPEN),
        /** A READ of memory that may only be written. */
        READ_RIGHT(true, Region.WRITABLE),
        /** A WRITE with an unknown key. */
        WRITE_KEY(false, Region.OPEN),
        /** A WRITE one byte past the end. */
        WRITE_BOUNDS(false, Region.OPEN),
        /** A WRITE to memory that may only be READ. */
        WRITE_RIGHT(false, Region.READABLE);

        private final boolean read;
        private final Region region;

        Trespass(boolean read, Region region) {
            this.read = read;
            this.region = region;
        }

        private boolean key() {
            return this == READ_KEY || this == WRITE_KEY;
        }

        private boolean bounds() {
            return this == READ_BOUNDS || this == WRITE_BOUNDS;
        }
    }

    /**
     * This side trespasses. A READ ends as the Terminate says, or FLUSHED; a WRITE has been sent and may have
     * succeeded. The queue pair goes to ERROR and flushes. A connection to another peer and this device keep working.
     *
     * @param trespass the forbidden access
     * @param bystander where another peer listens
     */
    public void trespass(Trespass trespass, InetSocketAddress bystander) {
        withBystander(bystander, () -> {
            try (ScriptedPeer peer = connect(ConnectionParameters.DEFAULT)) {
                RemoteRegion target = peer.region(trespass.region);
                int rkey = trespass.key() ? target.rkey() ^ 0x00FF_FF00 : target.rkey();
                long address = trespass.bounds() ? target.address() + target.length() - 63 : target.address();
                Completion ended = trespass.read ? peer.read(address, rkey, 64) : peer.write(address, rkey, 64);
                say(trespass + ": " + ended.status());
                Set<CompletionStatus> lawful = trespass.read
                        ? BROKEN_READ
                        : Set.of(
                                CompletionStatus.SUCCESS,
                                CompletionStatus.FLUSHED,
                                CompletionStatus.REMOTE_ACCESS_ERROR);
                require(lawful.contains(ended.status()), "expected one of " + lawful + ", got " + ended);
                say("the connection ended: " + peer.awaitEnd());
                require(
                        peer.queuePair().state() == QueuePairState.ERROR,
                        "state " + peer.queuePair().state());
                Completion flushed = peer.nextReceive("the flush of a RECV");
                require(flushed.status() == CompletionStatus.FLUSHED, "expected FLUSHED, got " + flushed);
            }
        });
    }

    /**
     * This side sends an atomic to a peer that does not know RFC 7306. That request fails, the end of its connection says
     * why and what to do, and a connection to another peer keeps working.
     *
     * @param bystander where another peer listens
     */
    public void atomic(InetSocketAddress bystander) {
        withBystander(bystander, () -> {
            try (ScriptedPeer peer = connect(ConnectionParameters.DEFAULT)) {
                RemoteRegion target = peer.region(Region.OPEN);
                Completion ended = peer.fetchAndAdd(target.address(), target.rkey());
                String end = peer.awaitEnd();
                say("fetch-and-add: " + ended.status());
                say("the connection ended: " + end);
                require(
                        ended.status() == CompletionStatus.REMOTE_INVALID_REQUEST_ERROR,
                        "expected REMOTE_INVALID_REQUEST_ERROR, got " + ended);
                require(
                        end.contains("(RFC 7306), which a peer need not know"),
                        "expected that the end names RFC 7306, got: " + end);
                Completion flushed = peer.nextReceive("the flush of a RECV");
                require(flushed.status() == CompletionStatus.FLUSHED, "expected FLUSHED, got " + flushed);
            }
        });
    }

    /**
     * The peer trespasses on this side's memory. It is refused and counted, its connection ends, another one keeps
     * working, and no byte changes.
     *
     * @param trespass the forbidden access; a missing right is one on this side's source of SENDs
     * @param bystander where another peer listens
     */
    public void trespassed(Trespass trespass, InetSocketAddress bystander) {
        long before = counter("accessErrors");
        withBystander(bystander, () -> {
            try (ScriptedPeer peer = connect(ConnectionParameters.DEFAULT)) {
                RemoteRegion own = trespass.key() || trespass.bounds() ? peer.dataForPeer() : peer.privateToThisSide();
                int rkey = trespass.key() ? own.rkey() ^ 0x00FF_FF00 : own.rkey();
                long address = trespass.bounds() ? own.address() + own.length() - 31 : own.address();
                long untouched = peer.fill(ScriptedPeer.BUFFER_BYTES, 5);
                peer.tell(ScriptMessage.access(trespass.read ? Command.READ : Command.WRITE, address, rkey, 32));
                say("the connection ended: " + peer.awaitEnd());
                require(
                        peer.queuePair().state() == QueuePairState.ERROR,
                        "state " + peer.queuePair().state());
                CheckedTransfers.requireSame(
                        untouched, peer.checksum(ScriptedPeer.BUFFER_BYTES), "memory after a refused access");
            }
        });
        require(counter("accessErrors") == before + 1, "accessErrors: " + before + ", then " + counter("accessErrors"));
    }

    private long counter(String name) {
        Long value = device.counters().get(name);
        return value == null ? 0 : value;
    }

    /** Checks that a connection established before an action works after it. */
    private void withBystander(InetSocketAddress bystander, Runnable action) {
        try (ScriptedPeer other = connect(bystander, ConnectionParameters.DEFAULT)) {
            use(other);
            action.run();
            use(other);
        }
    }

    private static void use(ScriptedPeer peer) {
        RemoteRegion open = peer.region(Region.OPEN);
        long theirs = peer.ask(new ScriptMessage(Command.FILL, 5000, SEED, 0)).first();
        require(peer.read(open.address(), open.rkey(), 5000).isSuccess(), "READ of the bystander");
        CheckedTransfers.requireSame(theirs, peer.checksum(5000), "READ of the bystander");
    }

    /**
     * Says "connected" and waits until the peer is killed. The queue pair notices and flushes; another connection keeps
     * working.
     *
     * @param bystander where another peer listens
     */
    public void killed(InetSocketAddress bystander) {
        withBystander(bystander, () -> {
            try (ScriptedPeer peer = connect(ConnectionParameters.DEFAULT)) {
                use(peer);
                say("connected");
                say("the connection ended: " + peer.awaitEnd());
                require(
                        peer.queuePair().state() == QueuePairState.ERROR,
                        "state " + peer.queuePair().state());
                Completion flushed = peer.nextReceive("the flush of a RECV");
                require(flushed.status() == CompletionStatus.FLUSHED, "expected FLUSHED, got " + flushed);
            }
        });
    }

    /**
     * Connects, asks and disconnects many times; this side must not leak.
     *
     * @param count how often
     */
    public void connects(int count) {
        long closed = counter("connectionsClosed");
        for (int i = 0; i < count; i++) {
            try (ScriptedPeer peer = connect(ConnectionParameters.DEFAULT)) {
                peer.ask(ScriptMessage.of(Command.CHECKSUM, 64));
                peer.leave();
                peer.awaitEnd();
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("connection " + (i + 1) + " of " + count + ": " + e.getMessage(), e);
            }
        }
        require(
                counter("connectionsClosed") - closed == count,
                "connectionsClosed: " + (counter("connectionsClosed") - closed) + " of " + count);
        say(count + " connections");
    }

    /**
     * Listens. The peer connects, first to be rejected with a reason, then with private data that it gets back. The
     * sizes follow.
     *
     * @param most the longest private data that the peer sends
     */
    public void listen(int most) {
        try (Listener listener = device.listen(remote, 8)) {
            sayListening(listener);
            try (ConnectionRequest request = next(listener)) {
                require(isSame(REJECT, request.privateData()), "expected that the peer asks for a reject");
                request.reject(REASON);
            }
            for (int length : new int[] {0, 1, 56, most}) {
                accept(listener, length, peer -> peer.region(Region.OPEN));
            }
            accept(listener, 4, peer -> {
                say(peer.queuePair().connectionCapabilities().toString());
                sizes(peer, ScriptedPeer.BUFFER_BYTES);
            });
        }
    }

    private void accept(Listener listener, int lengthBytes, Consumer<ScriptedPeer> action) {
        try (ConnectionRequest request = next(listener)) {
            byte[] came = request.privateData();
            byte[] sent = new byte[lengthBytes];
            for (int i = 0; i < lengthBytes; i++) {
                sent[i] = (byte) i;
            }
            require(isSame(sent, came), lengthBytes + " bytes of private data: " + Arrays.toString(came) + " came");
            try (ScriptedPeer peer =
                    ScriptedPeer.accept(device, request, ConnectionParameters.DEFAULT.withPrivateData(came))) {
                action.accept(peer);
            }
        }
    }

    private static ConnectionRequest next(Listener listener) {
        return listener.next(2 * ScriptedPeer.TIMEOUT_NS)
                .orElseThrow(() -> new AssertionError("no peer connected in time"));
    }
}
