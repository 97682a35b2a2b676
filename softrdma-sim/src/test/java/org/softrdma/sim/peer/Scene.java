package org.softrdma.sim.peer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;

/**
 * A device with regions of every kind, a raw peer whose stream is established, and a bystander. Two RECVs are posted; the
 * device's own READ is posted on demand.
 */
final class Scene implements AutoCloseable {
    static final int REGION_BYTES = 4096;
    static final int RECEIVE_BYTES = 256;
    static final int IRD = 2;
    static final long READ_WR = 77;
    static final long FIRST_RECV_WR = 100;
    static final long PEER_ADDRESS = 0x7000_1000L;
    static final int PEER_KEY = 0x5151_A0A0;

    final TestDevice server;
    final RawPeer peer;
    final QueuePair pair;
    final Bystander bystander;
    final TestDevice.Guarded readWrite;
    final TestDevice.Guarded zeroBased;
    final TestDevice.Guarded readOnly;
    final TestDevice.Guarded writeOnly;
    final TestDevice.Guarded localOnly;
    final TestDevice.Guarded otherDomain;
    final TestDevice.Guarded sink;
    final TestDevice.Guarded received;
    final int staleKey;
    private final int receives;

    Scene(String transport, boolean crc, int receives) throws IOException {
        this(transport, crc, receives, "crc", crc ? "on" : "off");
    }

    Scene(String transport, boolean crc, int receives, String... options) throws IOException {
        this.receives = receives;
        String[] all = new String[options.length + 2];
        all[0] = "transport";
        all[1] = transport;
        System.arraycopy(options, 0, all, 2, options.length);
        server = new TestDevice(all);
        readWrite = server.guarded(
                        REGION_BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE)
                .fill(1);
        zeroBased = server.guarded(
                        REGION_BYTES,
                        AccessFlag.LOCAL_WRITE,
                        AccessFlag.REMOTE_READ,
                        AccessFlag.REMOTE_WRITE,
                        AccessFlag.ZERO_BASED)
                .fill(2);
        readOnly = server.guarded(REGION_BYTES, AccessFlag.REMOTE_READ).fill(3);
        writeOnly = server.guarded(REGION_BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE)
                .fill(4);
        localOnly = server.guarded(REGION_BYTES, AccessFlag.LOCAL_WRITE).fill(5);
        ProtectionDomain other = server.own(server.device().allocateProtectionDomain());
        otherDomain = server.guarded(
                        other, REGION_BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE)
                .fill(6);
        sink = server.guarded(REGION_BYTES, AccessFlag.READ_SINK).fill(7);
        received = server.guarded(RECEIVE_BYTES * 8, AccessFlag.RECEIVE_SINK).fill(8);
        TestDevice.Guarded closed =
                server.guarded(REGION_BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
        staleKey = closed.region().rkey();
        closed.region().close();

        bystander = server.own(new Bystander(server, transport));
        peer = server.own(RawPeer.connect(server.address()));
        peer.sendBytes(
                Frames.mpa(Frames.REQUEST_KEY, Frames.ENHANCED | (crc ? Frames.CRC : 0), 2, Frames.depths(0, 16, IRD)));
        ConnectionRequest request = server.request();
        pair = server.queuePair(request, new QueuePairLimits(16, 16, 4, 4, 0));
        for (int i = 0; i < receives; i++) {
            postReceive(i);
        }
        request.accept(new ConnectionParameters(16, IRD, new byte[0]));
        byte[] reply = peer.receiveMpa();
        assertArrayEquals(
                Frames.mpa(Frames.REPLY_KEY, Frames.ENHANCED | (crc ? Frames.CRC : 0), 2, Frames.depths(0, IRD, 16)),
                reply,
                "MPA reply");
        peer.crc(crc);
        // The first segment lets the device speak.
        peer.send(Frames.tagged(Frames.WRITE, true, 0, 0));
    }

    private void postReceive(int index) {
        assertEquals(
                PostStatus.ACCEPTED,
                pair.postReceive(
                        FIRST_RECV_WR + index, received.region(), (long) index * RECEIVE_BYTES, RECEIVE_BYTES));
    }

    /** The device reads a whole region from the peer, who sees the request and says nothing yet. */
    void postRead() throws IOException {
        postRead(1, READ_WR, REGION_BYTES);
    }

    void postRead(int msn, long wrId, int length) throws IOException {
        assertEquals(
                PostStatus.ACCEPTED,
                pair.postRead(wrId, sink.region(), 0, length, PEER_ADDRESS, PEER_KEY, SendFlags.SIGNALLED));
        peer.expect(
                Frames.readRequest(msn, sink.region().lkey(), sink.region().address(), length, PEER_KEY, PEER_ADDRESS),
                "the device's READ request");
    }

    /** Statuses by wrId if everything is flushed. */
    Map<Long, CompletionStatus> allFlushed(boolean readPosted) {
        Map<Long, CompletionStatus> statuses = new TreeMap<>();
        if (readPosted) {
            statuses.put(READ_WR, CompletionStatus.FLUSHED);
        }
        for (int i = 0; i < receives; i++) {
            statuses.put(FIRST_RECV_WR + i, CompletionStatus.FLUSHED);
        }
        return statuses;
    }

    /** The queue pair is in ERROR, says so, and every request has ended as expected. */
    void expectEnded(Map<Long, CompletionStatus> statuses) throws Exception {
        TestDevice.await("the queue pair to be in ERROR", () -> pair.state() == QueuePairState.ERROR);
        pair.disconnected().toCompletableFuture().get(TestDevice.DEADLINE_NS, TimeUnit.NANOSECONDS);
        List<TestDevice.Completion> completions = server.take(statuses.size());
        Map<Long, CompletionStatus> found = new TreeMap<>();
        completions.forEach(completion -> found.put(completion.wrId(), completion.status()));
        assertEquals(statuses, found, "how the requests ended");
        server.expectNoCompletion();
    }

    /** No byte outside the RECV buffers has changed, and none around them. */
    void expectMemoryUntouched() {
        assertArrayEquals(TestBytes.pattern(1, REGION_BYTES), readWrite.bytes(0, REGION_BYTES), "read-write region");
        assertArrayEquals(TestBytes.pattern(2, REGION_BYTES), zeroBased.bytes(0, REGION_BYTES), "zero-based region");
        expectOthersUntouched();
    }

    void expectOthersUntouched() {
        assertArrayEquals(TestBytes.pattern(3, REGION_BYTES), readOnly.bytes(0, REGION_BYTES), "read-only region");
        assertArrayEquals(TestBytes.pattern(4, REGION_BYTES), writeOnly.bytes(0, REGION_BYTES), "write-only region");
        assertArrayEquals(TestBytes.pattern(5, REGION_BYTES), localOnly.bytes(0, REGION_BYTES), "local region");
        assertArrayEquals(TestBytes.pattern(6, REGION_BYTES), otherDomain.bytes(0, REGION_BYTES), "other domain");
        for (TestDevice.Guarded guarded :
                List.of(readWrite, zeroBased, readOnly, writeOnly, localOnly, otherDomain, sink, received)) {
            guarded.requireCanaries();
        }
    }

    @Override
    public void close() {
        server.close();
    }
}
