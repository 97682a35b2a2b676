package org.softrdma.testkit.interop;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.zip.CRC32;
import org.softrdma.testkit.BytePattern;
import org.softrdma.testkit.Completion;
import org.softrdma.testkit.interop.ScriptMessage.Command;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A connection to a scripted peer, with this end's memory: a data buffer with all rights, and a RECV for the next
 * message, which is always posted. Anything late or wrong is an {@link AssertionError}. One thread.
 */
final class ScriptedPeer implements AutoCloseable {
    /** Bytes of the data buffers of both ends. */
    static final int BUFFER_BYTES = 1 << 20;

    /** Limit of every wait; the peer may be an emulated machine. */
    static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(20);

    /** Bytes behind a transfer that are checked. */
    private static final int GUARD_BYTES = 4096;

    private static final int RECEIVES = 2;
    private static final long CONTROL_SEND = 1L << 32;
    private static final long PARK_NS = 20_000;

    /** The peer's memory; the ordinal is sent. */
    enum Region {
        /** {@link #BUFFER_BYTES} with all rights, the source of data. */
        OPEN,
        /** A page that may be READ only. */
        READABLE,
        /** A page that may be written only. */
        WRITABLE
    }

    private final Deque<AutoCloseable> owned = new ArrayDeque<>();
    private final ProtectionDomain domain;
    private final CompletionQueue sends;
    private final CompletionQueue receives;
    private final WorkCompletion[] one = WorkCompletion.array(1);
    private final MemoryRegion data;
    private final MemoryRegion control;
    private final MemoryRegion[] inbox = new MemoryRegion[RECEIVES];
    private final QueuePair queuePair;
    private final byte[] peersPrivateData;
    /** The peer does not see by itself that the connection has ended. */
    private boolean needsWord;

    private interface Opener {
        QueuePair create(ProtectionDomain domain, QueuePairAttributes attributes);
    }

    private interface Starter {
        byte[] start();
    }

    private ScriptedPeer(VerbsDevice device, Opener opener, Starter starter) {
        try {
            domain = own(device.allocateProtectionDomain());
            sends = own(device.createCompletionQueue(QueuePairLimits.DEFAULT.maxSendWorkRequests()));
            receives = own(device.createCompletionQueue(QueuePairLimits.DEFAULT.maxReceiveWorkRequests()));
            data = region(
                    device,
                    BUFFER_BYTES,
                    EnumSet.of(
                            AccessFlag.LOCAL_WRITE,
                            AccessFlag.REMOTE_READ,
                            AccessFlag.REMOTE_WRITE,
                            AccessFlag.READ_SINK));
            control = region(device, ScriptMessage.LENGTH, EnumSet.noneOf(AccessFlag.class));
            queuePair = own(
                    opener.create(domain, new QueuePairAttributes(sends, receives, QueuePairLimits.DEFAULT, false)));
            for (int i = 0; i < RECEIVES; i++) {
                inbox[i] = region(device, BUFFER_BYTES, EnumSet.of(AccessFlag.RECEIVE_SINK));
                require(queuePair.postReceive(i, inbox[i], 0, BUFFER_BYTES));
            }
            peersPrivateData = starter.start();
            needsWord = queuePair.connectionCapabilities().wire().startsWith("RoCE");
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    /**
     * Connects.
     *
     * @param connector of the device
     * @throws org.softrdma.verbs.VerbsException if the connection does not come up
     */
    static ScriptedPeer connect(VerbsDevice device, Connector connector, ConnectionParameters parameters) {
        return new ScriptedPeer(device, connector::createQueuePair, () -> connector.connect(parameters, TIMEOUT_NS));
    }

    /**
     * Accepts a peer and takes its greeting.
     *
     * @param request of a listener of the device
     * @throws org.softrdma.verbs.VerbsException if the connection does not come up
     */
    static ScriptedPeer accept(VerbsDevice device, ConnectionRequest request, ConnectionParameters parameters) {
        ScriptedPeer peer = new ScriptedPeer(device, request::createQueuePair, () -> {
            request.accept(parameters);
            return request.privateData();
        });
        try {
            peer.answer(Command.GREETING);
        } catch (RuntimeException | Error e) {
            peer.close();
            throw e;
        }
        return peer;
    }

    private MemoryRegion region(VerbsDevice device, long lengthBytes, Set<AccessFlag> access) {
        HostMemory memory = own(device.allocateMemory(lengthBytes));
        return own(domain.register(memory.segment(), access));
    }

    private <T extends AutoCloseable> T own(T resource) {
        owned.push(resource);
        return resource;
    }

    /** The connection. */
    QueuePair queuePair() {
        return queuePair;
    }

    /** The private data of the peer's request or reply. */
    byte[] peersPrivateData() {
        return peersPrivateData.clone();
    }

    /** This end's memory for data. */
    MemorySegment data() {
        return data.memory();
    }

    /** Fills the first bytes of {@link #data()} with a pattern. @return their CRC-32 */
    long fill(int lengthBytes, long seed) {
        new BytePattern(seed).fill(data().asSlice(0, lengthBytes));
        return checksum(lengthBytes);
    }

    /** Address and key with which the peer reaches {@link #data()}. */
    RemoteRegion dataForPeer() {
        return data.remote();
    }

    /** Memory of this end that the peer has no right to access. */
    RemoteRegion privateToThisSide() {
        return inbox[0].remote();
    }

    /** The CRC-32 of the first bytes of this end's memory. */
    long checksum(long lengthBytes) {
        return checksum(data.memory(), lengthBytes);
    }

    /**
     * The CRC-32 of the {@link #GUARD_BYTES} behind the first bytes of this end's memory, or of as many as there are.
     */
    long checksumBehind(long lengthBytes) {
        MemorySegment behind = data.memory().asSlice(lengthBytes);
        return checksum(behind, Math.min(GUARD_BYTES, behind.byteSize()));
    }

    private static long checksum(MemorySegment memory, long lengthBytes) {
        CRC32 crc = new CRC32();
        crc.update(memory.asSlice(0, lengthBytes).asByteBuffer());
        return crc.getValue();
    }

    /** Asks for memory of the peer. */
    RemoteRegion region(Region region) {
        ScriptMessage answer = ask(ScriptMessage.of(Command.REGION, region.ordinal()));
        return new RemoteRegion(answer.first(), answer.third(), (int) answer.second());
    }

    /** Sends a command and waits for the answer. */
    ScriptMessage ask(ScriptMessage request) {
        tell(request);
        return answer(request.command());
    }

    /** Sends a command that may get no answer. */
    void tell(ScriptMessage request) {
        request.encode(control.memory());
        require(queuePair.postSend(CONTROL_SEND, control, 0, ScriptMessage.LENGTH, SendFlags.SIGNALLED));
        Completion sent = nextSend("SEND of " + request.command());
        if (!sent.isSuccess()) {
            throw new AssertionError("SEND of " + request + ": " + sent + ", " + end());
        }
    }

    /** Waits for the answer to a command. */
    ScriptMessage answer(Command command) {
        Completion received = nextReceive("the answer to " + command);
        if (!received.isSuccess()) {
            throw new AssertionError("waiting for the answer to " + command + ": " + received + ", " + end());
        }
        int slot = (int) received.wrId();
        ScriptMessage message = ScriptMessage.decode(inbox[slot].memory(), received.byteLength());
        require(queuePair.postReceive(slot, inbox[slot], 0, BUFFER_BYTES));
        if (message.command() != command) {
            throw new AssertionError("expected the answer to " + command + ", got " + message);
        }
        return message;
    }

    /** Sends data as a message of its own and waits for its completion. */
    void sendData(long lengthBytes) {
        require(queuePair.postSend(lengthBytes, data, 0, lengthBytes, SendFlags.SIGNALLED));
        expectSuccess("SEND of " + lengthBytes + " bytes");
    }

    /** Waits for a message that is data. @return its CRC-32 */
    long receiveData(long lengthBytes) {
        Completion received = nextReceive("a SEND of " + lengthBytes + " bytes");
        if (!received.isSuccess() || received.byteLength() != lengthBytes) {
            throw new AssertionError("expected a message of " + lengthBytes + " bytes, got " + received);
        }
        int slot = (int) received.wrId();
        long checksum = checksum(inbox[slot].memory(), lengthBytes);
        require(queuePair.postReceive(slot, inbox[slot], 0, BUFFER_BYTES));
        return checksum;
    }

    /** READs from the peer into {@link #data()} and returns the completion. */
    Completion read(long address, int rkey, long lengthBytes) {
        require(queuePair.postRead(lengthBytes, data, 0, lengthBytes, address, rkey, SendFlags.SIGNALLED));
        return nextSend("READ of " + lengthBytes + " bytes");
    }

    /** WRITEs the start of {@link #data()} to the peer and returns the completion. */
    Completion write(long address, int rkey, long lengthBytes) {
        require(queuePair.postWrite(lengthBytes, data, 0, lengthBytes, address, rkey, SendFlags.SIGNALLED));
        return nextSend("WRITE of " + lengthBytes + " bytes");
    }

    /** Adds 1 to the peer's first word, fetches what it was, and returns the completion. */
    Completion fetchAndAdd(long address, int rkey) {
        require(queuePair.postFetchAndAdd(Long.BYTES, data, 0, address, rkey, 1, SendFlags.SIGNALLED));
        return nextSend("a fetch-and-add");
    }

    /** READs from the peer into the start of {@link #data()} by several requests at once, and waits for them. */
    void read(long address, int rkey, int lengthBytes, int pieces) {
        for (int i = 0; i < pieces; i++) {
            long from = start(lengthBytes, pieces, i);
            long length = start(lengthBytes, pieces, i + 1) - from;
            require(queuePair.postRead(i, data, from, length, address + from, rkey, SendFlags.SIGNALLED));
        }
        expectPieces("READ", lengthBytes, pieces);
    }

    /** WRITEs the start of {@link #data()} to the peer by several requests at once, and waits for them. */
    void write(long address, int rkey, int lengthBytes, int pieces) {
        for (int i = 0; i < pieces; i++) {
            long from = start(lengthBytes, pieces, i);
            long length = start(lengthBytes, pieces, i + 1) - from;
            require(queuePair.postWrite(i, data, from, length, address + from, rkey, SendFlags.SIGNALLED));
        }
        expectPieces("WRITE", lengthBytes, pieces);
    }

    private static long start(long lengthBytes, int pieces, int piece) {
        return lengthBytes * piece / pieces;
    }

    private void expectPieces(String operation, long lengthBytes, int pieces) {
        for (int i = 0; i < pieces; i++) {
            expectSuccess(operation + " " + i + " of " + pieces + " for " + lengthBytes + " bytes");
        }
    }

    private void expectSuccess(String what) {
        Completion completion = nextSend(what);
        if (!completion.isSuccess()) {
            throw new AssertionError(what + ": " + completion + ", " + end());
        }
    }

    /** The next completion of the send queue. */
    Completion nextSend(String what) {
        return next(sends, what);
    }

    /** The next completion of the receive queue. */
    Completion nextReceive(String what) {
        return next(receives, what);
    }

    private Completion next(CompletionQueue queue, String what) {
        long deadlineNs = System.nanoTime() + TIMEOUT_NS;
        while (queue.poll(one, 1) == 0) {
            if (System.nanoTime() - deadlineNs > 0) {
                throw new AssertionError("no completion in time: " + what);
            }
            LockSupport.parkNanos(PARK_NS);
        }
        return Completion.of(one[0]);
    }

    /**
     * Ends the connection. A peer over RoCE that waits for a message learns of its end by an event only, for which it does
     * not look, so it is asked to leave.
     */
    void leave() {
        if (needsWord && queuePair.state() == QueuePairState.READY_TO_SEND) {
            needsWord = false;
            ScriptMessage.of(Command.LEAVE).encode(control.memory());
            require(queuePair.postSend(CONTROL_SEND, control, 0, ScriptMessage.LENGTH, SendFlags.SIGNALLED));
            Completion ignored = nextSend("SEND of LEAVE"); // flushed if the peer left before
        } else {
            queuePair.disconnect();
        }
    }

    /** Waits for the connection to end, and returns the reason. */
    String awaitEnd() {
        try {
            return queuePair.disconnected().toCompletableFuture().get(TIMEOUT_NS, TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw new AssertionError(
                    "the connection did not end in time, its queue pair is in " + queuePair.state(), e);
        } catch (ExecutionException e) {
            throw new CompletionException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }

    private String end() {
        return queuePair.disconnected().toCompletableFuture().getNow("still connected");
    }

    private static void require(PostStatus status) {
        if (status != PostStatus.ACCEPTED) {
            throw new AssertionError("expected that a request is ACCEPTED, got " + status);
        }
    }

    @Override
    public void close() {
        if (needsWord) {
            leave();
        }
        RuntimeException first = null;
        while (!owned.isEmpty()) {
            try {
                owned.pop().close();
            } catch (Exception e) {
                first = first == null ? new IllegalStateException("close", e) : first;
            }
        }
        if (first != null) {
            throw first;
        }
    }
}
