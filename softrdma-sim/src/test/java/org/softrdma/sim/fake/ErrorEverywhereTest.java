package org.softrdma.sim.fake;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.sim.peer.Frames;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.MemoryWindow;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;

/**
 * An Error at every call that allocates native memory, copies the application's, or is one of a socket or of the event loop,
 * one after the other, while a connection sends, receives and ends in every way: it costs this connection. Its requests end, each once; its socket is closed; the
 * fault is counted; nothing escapes to the loop; the connection beside it goes on.
 */
class ErrorEverywhereTest {
    private static final int SAMPLE = Integer.getInteger("softrdma.sample", 1);
    private static final int SEGMENT = 300;
    private static final int LENGTH = 700;
    private static final int REGION_BYTES = 4 * LENGTH;
    private static final QueuePairLimits LIMITS = new QueuePairLimits(8, 8, 2, 2, 64);
    private static final int READS = 8;
    private static final int RECEIVES = 2;
    private static final int SIGNALLED = SendFlags.SIGNALLED;
    private static final long REMOTE = 0x1122_3344_5566_7000L;
    private static final int RKEY = 0x8877_6655;
    /** The kernel takes this much, which ends in a header, and in the payload of a later segment. */
    private static final int[] ROOMS = {7, 450};

    private static final Copying[] GATHERING = {Copying.GATHERED, Copying.GATHERED_LATER};

    /** An Error whose log is one line. */
    private static final class Injected extends Error {
        private static final long serialVersionUID = 1;

        Injected() {
            super("injected", null, false, false);
        }
    }

    enum Traffic {
        READS,
        WRITES,
        SENDS,
        INLINE,
        RECEIVES,
        RESPONSES,
        ATOMICS,
        ANSWERED_ATOMICS,
        IMMEDIATES,
        RECEIVED_IMMEDIATES,
        WINDOWS
    }

    enum Ending {
        /** Everything goes; then the peer ends the connection. */
        NONE,
        DISCONNECT,
        CLOSE,
        PEER_RESET,
        PEER_END,
        PEER_ERROR,
        /** The memory goes away. */
        DEREGISTERED
    }

    /** What fails. */
    enum Seam {
        /** Allocation of native memory, and copying of the application's. */
        MEMORY,
        /** These, and calls of sockets and of the event loop. */
        TRANSPORT
    }

    enum Copying {
        GATHERED,
        /** Gathered by a socket that behaves as one of io_uring. */
        GATHERED_LATER,
        COPIED,
        CRC
    }

    /** In a sample each traffic meets each seam, and so does each ending. */
    private static boolean isInSample(int number) {
        return number % Math.min(SAMPLE, Ending.values().length) == 0;
    }

    static Stream<Arguments> everything() {
        return Stream.of(Traffic.values())
                .flatMap(traffic -> Stream.of(Ending.values())
                        .flatMap(ending -> Stream.of(Seam.values())
                                .filter(seam -> isInSample(traffic.ordinal() + ending.ordinal() + seam.ordinal()))
                                .map(seam -> Arguments.of(traffic, ending, seam))));
    }

    @Tag("sampled")
    @ParameterizedTest(name = "{0}, {1}, {2}")
    @MethodSource("everything")
    void shouldCostOneConnection(Traffic traffic, Ending ending, Seam seam) {
        int failures = 0;
        for (Copying copying : seam == Seam.MEMORY ? Copying.values() : GATHERING) {
            for (int room : SAMPLE == 1 ? ROOMS : new int[] {ROOMS[copying.ordinal() % ROOMS.length]}) {
                for (int call = 1; new Play(traffic, ending, seam, copying, room, call).failed(); call++) {
                    failures++;
                }
            }
        }
        assertTrue(failures > 0, "nothing failed");
    }

    /** One connection, and one beside it. */
    private static final class Play {
        private final Traffic traffic;
        private final Ending ending;
        private final Copying copying;
        private final String what;
        private final FakeDevice device;
        private final MemoryRegion memory;
        private final List<MemoryWindow> windows;
        private final FakeSocket socket;
        private final List<Long> posted = new ArrayList<>();
        private final List<Long> ended = new ArrayList<>();
        private final boolean failed;
        private boolean thrownAtPosting;

        Play(Traffic traffic, Ending ending, Seam seam, Copying copying, int room, int call) {
            this.traffic = traffic;
            this.ending = ending;
            this.copying = copying;
            what = traffic + ", " + ending + ", " + copying + ", room " + room + ", call " + call;
            device = new FakeDevice(
                    "crc",
                    copying == Copying.CRC ? "on" : "off",
                    "segment",
                    "" + SEGMENT,
                    "copy-below",
                    List.of(GATHERING).contains(copying) ? "1" : "4096",
                    "ring",
                    copying == Copying.GATHERED_LATER ? "on" : "off",
                    "pinning",
                    "off");
            try (device) {
                memory = device.region(
                        3,
                        REGION_BYTES,
                        AccessFlag.READ_SINK,
                        AccessFlag.REMOTE_READ,
                        AccessFlag.REMOTE_WRITE,
                        traffic == Traffic.ANSWERED_ATOMICS ? AccessFlag.REMOTE_ATOMIC : AccessFlag.LOCAL_WRITE,
                        AccessFlag.BIND_WINDOWS);
                windows = List.of(
                        device.own(device.domain().allocateWindow()),
                        device.own(device.domain().allocateWindow()));
                MemoryRegion other = device.region(4, REGION_BYTES, AccessFlag.RECEIVE_SINK);
                FakeSocket beside = device.socket();
                socket = device.socket();
                try (QueuePair bystander = device.connect(beside, LIMITS, 1);
                        QueuePair pair = accepted()) {
                    if (seam == Seam.TRANSPORT) {
                        device.countTransportCalls(socket);
                    }
                    play(pair, room, call);
                    failed = device.nativeMemory().hasFailed();
                    device.nativeMemory().failNever();
                    check(pair);
                    serve(bystander, beside, other);
                } finally {
                    beside.giveReset();
                    device.drain();
                }
            } catch (Error e) {
                throw new AssertionError(what, e);
            }
        }

        boolean failed() {
            return failed;
        }

        private QueuePair accepted() {
            socket.give(Frames.mpa(Frames.REQUEST_KEY, Frames.ENHANCED, 2, Frames.depths(0, READS, READS)));
            device.run();
            ConnectionRequest request = device.request().orElseThrow();
            QueuePair pair = device.queuePair(request, LIMITS);
            request.accept(ConnectionParameters.ofReads(READS));
            return pair;
        }

        private void play(QueuePair pair, int room, int call) {
            for (int i = 0; i < RECEIVES; i++) {
                add(100 + i, pair.postReceive(100 + i, memory, 0, LENGTH));
            }
            device.nativeMemory().failAt(call, Injected::new);
            socket.takeOnly(room).give(fpdu(Frames.tagged(Frames.WRITE, true, 0, 0)));
            drain();
            post(pair);
            socket.give(incoming());
            drain();
            end(pair);
            socket.takeAll();
            drain();
            if (ending == Ending.NONE || ending == Ending.DEREGISTERED) {
                socket.giveReset();
            }
            drain();
            device.advance(60_000);
            drain();
        }

        private void drain() {
            device.ended().forEach(one -> ended.add(one.wrId()));
        }

        private byte[] fpdu(byte[] segment) {
            return Frames.fpdu(segment, copying == Copying.CRC);
        }

        private void add(long wrId, PostStatus status) {
            assertEquals(PostStatus.ACCEPTED, status, what);
            posted.add(wrId);
        }

        private void post(QueuePair pair) {
            for (int i = 0; i < 3; i++) {
                try {
                    switch (traffic) {
                        case READS ->
                            add(i, pair.postRead(i, memory, (long) i * LENGTH, LENGTH, REMOTE, RKEY, SIGNALLED));
                        case WRITES ->
                            add(i, pair.postWrite(i, memory, (long) i * LENGTH, LENGTH, REMOTE, RKEY, SIGNALLED));
                        case SENDS -> {
                            SendWorkRequest request = new SendWorkRequest().send(i, SIGNALLED);
                            add(i, pair.post(request.add(memory, 1, LENGTH - 1).add(memory, LENGTH, 2)));
                        }
                        case INLINE ->
                            add(i, pair.postWrite(i, memory, i, 50, REMOTE, RKEY, SIGNALLED | SendFlags.INLINE));
                        case ATOMICS -> add(i, pair.postFetchAndAdd(i, memory, i * 8L, REMOTE, RKEY, 1, SIGNALLED));
                        case IMMEDIATES ->
                            add(
                                    i,
                                    pair.postWriteImmediate(
                                            i, memory, (long) i * LENGTH, LENGTH, REMOTE, RKEY, i, SIGNALLED));
                        case WINDOWS -> add(i, postOfWindow(pair, i));
                        case RECEIVES, RESPONSES, ANSWERED_ATOMICS, RECEIVED_IMMEDIATES -> {
                            // The peer sends.
                        }
                    }
                } catch (Injected e) {
                    thrownAtPosting = true;
                }
            }
        }

        /** Binds two, and takes back the first. */
        private PostStatus postOfWindow(QueuePair pair, int index) {
            return index < windows.size()
                    ? pair.postBindWindow(
                            index, windows.get(index), memory, 0, LENGTH, Set.of(AccessFlag.REMOTE_READ), SIGNALLED)
                    : pair.postInvalidate(index, windows.getFirst().rkey(), SIGNALLED);
        }

        /** What the peer says, and the beginning of one more segment. */
        private byte[] incoming() {
            byte[] payload = TestBytes.pattern(9, LENGTH);
            List<byte[]> all = new ArrayList<>();
            switch (traffic) {
                case READS -> {
                    for (int i = 0; i < 2; i++) {
                        long sink = memory.address() + (long) i * LENGTH;
                        all.add(fpdu(Frames.tagged(Frames.READ_RESPONSE, true, memory.lkey(), sink, payload)));
                    }
                }
                case ATOMICS -> {
                    all.add(fpdu(Frames.atomicResponse(1, 1, 5)));
                    all.add(fpdu(Frames.atomicResponse(2, 2, 6)));
                }
                case ANSWERED_ATOMICS -> {
                    for (int i = 1; i <= 3; i++) {
                        all.add(fpdu(Frames.fetchAdd(i, memory.rkey(), memory.address() + 8L * i, 1)));
                    }
                }
                case RECEIVED_IMMEDIATES -> {
                    all.add(fpdu(Frames.tagged(Frames.WRITE, true, memory.rkey(), memory.address(), payload)));
                    all.add(fpdu(Frames.immediate(true, 1, 7)));
                }
                case WRITES, SENDS, INLINE, IMMEDIATES -> all.add(fpdu(Frames.tagged(Frames.WRITE, true, 0, 0)));
                case RECEIVES -> {
                    all.add(fpdu(Frames.send(1, payload)));
                    all.add(fpdu(Frames.tagged(Frames.WRITE, true, memory.rkey(), memory.address(), payload)));
                }
                case RESPONSES -> {
                    for (int i = 1; i <= 3; i++) {
                        all.add(fpdu(Frames.readRequest(i, 5, 0, LENGTH, memory.rkey(), memory.address() + i)));
                    }
                }
                case WINDOWS -> {
                    int key = windows.getLast().rkey();
                    all.add(fpdu(Frames.sendInvalidate(true, 1, key, payload)));
                }
            }
            byte[] half = fpdu(Frames.send(firstReceived() ? 2 : 1, payload));
            all.add(TestBytes.slice(half, 0, LENGTH / 2));
            return TestBytes.concat(all.toArray(byte[][]::new));
        }

        private boolean firstReceived() {
            return traffic == Traffic.RECEIVES || traffic == Traffic.RECEIVED_IMMEDIATES || traffic == Traffic.WINDOWS;
        }

        private void end(QueuePair pair) {
            switch (ending) {
                case NONE -> {
                    // In order, at the end.
                }
                case DISCONNECT -> pair.disconnect();
                case CLOSE -> pair.close();
                case PEER_RESET -> socket.giveReset();
                case PEER_END -> socket.giveEnd();
                case PEER_ERROR ->
                    socket.give(new byte[LENGTH])
                            .give(fpdu(Frames.tagged(9, true, 1, 1)))
                            .giveEnd();
                case DEREGISTERED -> {
                    windows.forEach(MemoryWindow::close);
                    memory.close();
                }
            }
        }

        private void check(QueuePair pair) {
            boolean fault = failed && !thrownAtPosting;
            if (ending == Ending.CLOSE) {
                assertTrue(posted.containsAll(ended), () -> what + ": " + ended + " of " + posted);
            } else {
                assertEquals(
                        posted.stream().sorted().toList(),
                        ended.stream().sorted().toList(),
                        what);
                assertEquals(QueuePairState.ERROR, pair.state(), what);
            }
            assertTrue(socket.isClosed(), () -> what + ": the socket is not closed");
            assertEquals(fault, device.counter("engineFaults") > 0, what);
        }

        private void serve(QueuePair bystander, FakeSocket beside, MemoryRegion other) {
            assertEquals(PostStatus.ACCEPTED, bystander.postReceive(7, other, 0, LENGTH));
            beside.give(fpdu(Frames.send(1, TestBytes.pattern(1, 100))));
            assertEquals(List.of(CompletionStatus.SUCCESS), device.drain(), () -> what + ": beside it");
        }
    }
}
