package org.softrdma.sim.samehost;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.net.transport.EveryTransport;
import org.softrdma.sim.NearProvider;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.sim.peer.TestDevice;
import org.softrdma.sim.wire.MessageKind;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.MemorySource;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.Reregistration;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.SendWorkRequestList;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/** What a READ by the requester's own thread brings, and when it must not be one. */
@Timeout(value = 1, unit = TimeUnit.MINUTES)
class NearReadTest {
    private static final int LENGTH = 4096;

    @Test
    void shouldReadWithoutTheResponderAndCountOnBothSides() {
        try (NearPair nodes = new NearPair()) {
            MemoryRegion region = nodes.register(0, LENGTH, 7, AccessFlag.REMOTE_READ);
            for (int i = 1; i <= 40; i++) {
                assertEquals(CompletionStatus.SUCCESS, nodes.read(region, i, 100));
                assertEquals(7, nodes.got(99));
                assertEquals(i, nodes.near());
            }
            assertEquals(0, nodes.client.counter(MessageKind.READ_REQUEST.sentLabel()), "no READ was sent");
            assertEquals(40, nodes.server.counter("responderReads"));
            assertEquals(4000, nodes.server.counter("responderReadBytes"));
            assertEquals(40, nodes.server.counter("sameHostResponderReads"));
            nodes.pair.close();
            TestDevice.await("the responder's end", () -> nodes.serverPair.state() == QueuePairState.ERROR);
            assertEquals(40, nodes.server.counter("responderReads"), "once the connection has ended");
            assertEquals(40, nodes.client.counter("sameHostReads"), "once the connection has ended");
        }
    }

    @Test
    void shouldNotReadByItselfWhatLiesBehindItsRegion() {
        try (NearPair nodes = new NearPair()) {
            MemoryRegion region = nodes.register(0, LENGTH, 7, AccessFlag.REMOTE_READ);
            nodes.shown.asSlice(LENGTH, 100).fill((byte) 99);
            assertEquals(CompletionStatus.SUCCESS, nodes.read(region, LENGTH - 1, 1));
            assertNotEquals(CompletionStatus.SUCCESS, nodes.read(region, LENGTH - 1, 2));
            assertEquals(1, nodes.near());
        }
    }

    /** Its address has an interface, which one side knows by name and the other by number. */
    @ParameterizedTest
    @EveryTransport
    void shouldReadFromALinkLocalListener(String transport) throws Exception {
        Optional<Inet6Address> found = HandoverServerTest.linkLocal();
        assumeTrue(found.isPresent(), "this host has no link-local address");
        Inet6Address local = found.orElseThrow();
        Map<String, String> options = Map.of("transport", transport);
        QueuePairLimits limits = QueuePairLimits.of(1, 1);
        try (TestDevice server = new TestDevice(NearProvider.open(options, new NearProvider.Memory()));
                TestDevice client = new TestDevice(NearProvider.open(options, new NearProvider.Memory()))) {
            Listener listener = server.own(server.device().listen(new InetSocketAddress(local, 0), 1));
            int port = listener.localAddress().getPort();
            Connector connector =
                    client.own(client.device().resolve(new InetSocketAddress(local, port), TestDevice.DEADLINE_NS));
            QueuePair pair = client.own(
                    connector.createQueuePair(client.domain(), QueuePairAttributes.of(client.queue(), limits)));
            Thread connecting = Thread.ofPlatform()
                    .start(() -> connector.connect(ConnectionParameters.ofReads(1), TestDevice.DEADLINE_NS));
            ConnectionRequest request =
                    listener.next(TestDevice.DEADLINE_NS).orElseThrow(() -> new AssertionError("nobody came"));
            QueuePair accepted = server.queuePair(request, limits);
            request.accept(ConnectionParameters.ofReads(1));
            connecting.join();
            MemorySegment shown = NearPair.allocate(server, LENGTH).fill((byte) 7);
            MemoryRegion region = server.own(server.domain().register(shown, Set.of(AccessFlag.REMOTE_READ)));
            MemoryRegion sink = client.guarded(LENGTH, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ)
                    .region();
            for (int i = 0; i < 2; i++) { // the first asks for the memory
                assertEquals(
                        PostStatus.ACCEPTED,
                        pair.postRead(i, sink, 0, LENGTH, region.address(), region.rkey(), SendFlags.SIGNALLED));
                assertEquals(CompletionStatus.SUCCESS, client.take(1).getFirst().status());
            }
            assertNotEquals(0, client.counter("sameHostReads"));
            assertEquals(QueuePairState.READY_TO_SEND, accepted.state());
        }
    }

    @Test
    void shouldRefuseWhatMayNotBeRead() {
        for (AccessFlag[] access : List.of(
                new AccessFlag[] {AccessFlag.LOCAL_WRITE},
                new AccessFlag[] {AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE})) {
            try (NearPair nodes = new NearPair()) {
                MemoryRegion region = nodes.register(0, LENGTH, 7, access);
                assertNotEquals(CompletionStatus.SUCCESS, nodes.read(region, 0, 1));
                assertEquals(0, nodes.near());
            }
        }
    }

    @Test
    void shouldRefuseAnotherDomain() {
        try (NearPair nodes = new NearPair()) {
            var other = nodes.server.own(nodes.server.device().allocateProtectionDomain());
            MemoryRegion region = nodes.register(other, 0, LENGTH, 7, AccessFlag.REMOTE_READ);
            assertNotEquals(CompletionStatus.SUCCESS, nodes.read(region, 0, 1));
            assertEquals(0, nodes.near());
        }
    }

    @Test
    void shouldSendWhatPromisesWholeWords() {
        try (NearPair nodes = new NearPair()) {
            MemoryRegion region = nodes.register(0, LENGTH, 7, AccessFlag.REMOTE_READ, AccessFlag.POLLED);
            assertEquals(CompletionStatus.SUCCESS, nodes.read(region, 0, 64));
            assertEquals(0, nodes.near());
        }
    }

    @Test
    void shouldSendReadsOfOtherMemory() {
        try (NearPair nodes = new NearPair()) {
            TestDevice.Guarded other =
                    nodes.server.guarded(LENGTH, AccessFlag.REMOTE_READ).fill(3);
            assertEquals(CompletionStatus.SUCCESS, nodes.read(other.region(), 0, 64));
            assertEquals(0, nodes.near());
        }
    }

    @Test
    void shouldReadMemoryThatWasShownLater() {
        try (NearPair nodes = new NearPair()) {
            MemorySegment later = NearPair.allocate(nodes.server, LENGTH).fill((byte) 5);
            MemoryRegion region =
                    nodes.server.own(nodes.server.domain().register(later, Set.of(AccessFlag.REMOTE_READ)));
            assertEquals(CompletionStatus.SUCCESS, nodes.read(region, 0, 64), "asks for it");
            long before = nodes.near();
            assertEquals(CompletionStatus.SUCCESS, nodes.read(region, 0, 64));
            assertEquals(before + 1, nodes.near());
            assertEquals(5, nodes.got(63));
        }
    }

    @Test
    void shouldNotPassAWriteOfItsOwn() {
        try (NearPair nodes = new NearPair()) {
            MemoryRegion region = nodes.register(
                    0, LENGTH, 0, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ);
            MemoryRegion source =
                    nodes.client.guarded(LENGTH, AccessFlag.LOCAL_WRITE).region();
            long near = 0;
            for (int i = 1; i <= 100; i++) {
                source.memory().fill((byte) i);
                assertEquals(
                        PostStatus.ACCEPTED,
                        nodes.pair.postWrite(0, source, 0, LENGTH, region.address(), region.rkey(), 0));
                assertEquals(CompletionStatus.SUCCESS, nodes.read(region, 0, LENGTH));
                assertEquals(i, nodes.got(LENGTH - 1), "what was written before");
                assertEquals(near, nodes.near(), "only an answer proves that it was placed");
                assertEquals(CompletionStatus.SUCCESS, nodes.read(region, 0, LENGTH));
                assertEquals(++near, nodes.near(), "it was placed");
            }
        }
    }

    @Test
    void shouldNotPassAWriteWhoseCompletionWasPolled() {
        try (NearPair nodes = new NearPair()) {
            MemoryRegion region = nodes.register(
                    0, LENGTH, 0, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ);
            MemoryRegion source =
                    nodes.client.guarded(LENGTH, AccessFlag.LOCAL_WRITE).region();
            assertEquals(
                    PostStatus.ACCEPTED,
                    nodes.pair.postWrite(0, source, 0, LENGTH, region.address(), region.rkey(), SendFlags.SIGNALLED));
            assertEquals(
                    CompletionStatus.SUCCESS, nodes.client.take(1).getFirst().status());
            assertEquals(CompletionStatus.SUCCESS, nodes.read(region, 0, LENGTH));
            assertEquals(0, nodes.near(), "its bytes went to TCP, which says nothing of the peer");
        }
    }

    @Test
    void shouldPassAWriteIfItsReadsAreRelaxed() {
        try (NearPair nodes = new NearPair(true)) {
            MemoryRegion region = nodes.register(
                    0, LENGTH, 7, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ);
            assertEquals(CompletionStatus.SUCCESS, nodes.read(region, 0, 8), "the row of the region is there");
            long before = nodes.near();
            for (int i = 1; i <= 200; i++) {
                boolean polled = i % 2 == 0; // before the READ is posted
                int flags = polled ? SendFlags.SIGNALLED : 0;
                assertEquals(
                        PostStatus.ACCEPTED,
                        nodes.pair.postWrite(0, nodes.sink, 0, 8, region.address(), region.rkey(), flags));
                if (polled) {
                    assertEquals(
                            CompletionStatus.SUCCESS,
                            nodes.client.take(1).getFirst().status());
                }
                assertEquals(CompletionStatus.SUCCESS, nodes.read(region, 8, LENGTH - 8));
                assertEquals(before + i, nodes.near(), "whether the WRITE was placed does not matter");
            }
        }
    }

    @Test
    void shouldMapThePeersMemoryOnceForAllConnections() throws IOException {
        try (NearPair nodes = new NearPair()) {
            MemoryRegion region = nodes.register(0, LENGTH, 7, AccessFlag.REMOTE_READ);
            assertEquals(CompletionStatus.SUCCESS, nodes.read(region, 0, LENGTH));
            long mapped = mappingsOfSharedMemory();
            QueuePair other = nodes.connect(false).client();
            assertEquals(
                    PostStatus.ACCEPTED,
                    other.postRead(9, nodes.sink, 0, 8, region.address(), region.rkey(), SendFlags.SIGNALLED));
            assertEquals(9, nodes.client.take(1).getFirst().wrId());
            assertEquals(2, nodes.near(), "each connection has the memory");
            assertEquals(mapped, mappingsOfSharedMemory(), "but it is mapped once");
            other.close();
            assertEquals(CompletionStatus.SUCCESS, nodes.read(region, 0, LENGTH));
            assertEquals(3, nodes.near());
        }
    }

    /** Those that cannot be written, of memory that an application has allocated. */
    private static long mappingsOfSharedMemory() throws IOException {
        return Files.readAllLines(Path.of("/proc/self/maps")).stream()
                .filter(line -> line.contains(" r--s ") && line.contains("memfd:softrdma (deleted)"))
                .count();
    }

    @Test
    void shouldReadByItselfWhatIsTooMuchForATurn() {
        try (NearPair nodes = new NearPair(true)) {
            int length = 1 << 20; // which is also what a turn may read
            MemorySegment source = NearPair.allocate(nodes.server, length).fill((byte) 7);
            MemoryRegion region =
                    nodes.server.own(nodes.server.domain().register(source, Set.of(AccessFlag.REMOTE_READ)));
            MemoryRegion target = nodes.register(0, 8, 0, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
            MemoryRegion sink =
                    nodes.client.guarded(length, AccessFlag.LOCAL_WRITE).region();
            assertEquals(CompletionStatus.SUCCESS, nodes.read(region.address(), region.rkey(), 8), "the row is there");
            long before = nodes.near();
            for (int round = 1; round <= 20; round++) { // in some of them the WRITE has gone before the next is posted
                assertEquals(
                        PostStatus.ACCEPTED,
                        nodes.pair.postWrite(0, nodes.sink, 0, 8, target.address(), target.rkey(), 0));
                for (int i = 1; i <= 4; i++) {
                    assertEquals(
                            PostStatus.ACCEPTED,
                            nodes.pair.postRead(
                                    i, sink, 0, length, region.address(), region.rkey(), SendFlags.SIGNALLED));
                }
                nodes.client.take(4).forEach(done -> assertEquals(CompletionStatus.SUCCESS, done.status()));
                assertEquals(7, sink.memory().get(ValueLayout.JAVA_BYTE, length - 1L));
                assertEquals(before + 4L * round, nodes.near(), "none goes over TCP");
            }
        }
    }

    @ParameterizedTest
    @EveryTransport
    void shouldGoOnWithWhatIsTooMuchForATurnWhenTheSocketIsAlmostFull(String transport) {
        Map<String, String> manual =
                Map.of("socket-buffer", "65536", "progress", "manual"); // not polled until it is full
        try (NearPair nodes = new NearPair(true, manual, Map.of("socket-buffer", "65536", "transport", transport))) {
            int length = 1 << 20;
            MemorySegment source = NearPair.allocate(nodes.server, length).fill((byte) 7);
            MemoryRegion region =
                    nodes.server.own(nodes.server.domain().register(source, Set.of(AccessFlag.REMOTE_READ)));
            MemoryRegion target = nodes.register(0, LENGTH, 0, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
            MemoryRegion sink =
                    nodes.client.guarded(length, AccessFlag.LOCAL_WRITE).region();
            assertEquals(CompletionStatus.SUCCESS, nodes.read(region.address(), region.rkey(), 8), "the row is there");
            WorkCompletion[] one = WorkCompletion.array(1);
            SendWorkRequestList list = new SendWorkRequestList(5);
            while (nodes.client.counter("shortSends") == 0) { // from two thirds on, no event says that there is room
                list.clear();
                list.next()
                        .write(0, target.address(), target.rkey(), SendFlags.SIGNALLED)
                        .add(nodes.sink, 0, LENGTH);
                for (int i = 1; i <= 4; i++) {
                    list.next()
                            .read(i, region.address(), region.rkey(), SendFlags.SIGNALLED)
                            .add(sink, 0, length);
                }
                assertEquals(PostStatus.ACCEPTED, nodes.pair.post(list));
                AtomicInteger done = new AtomicInteger();
                TestDevice.await(() -> "5 completions, got " + done, () -> {
                    if (nodes.client.queue().poll(one, 1) == 1) {
                        assertEquals(CompletionStatus.SUCCESS, one[0].status());
                        done.incrementAndGet();
                    }
                    if (nodes.client.counter("shortSends") > 0) {
                        assertEquals(0, nodes.server.queue().poll(one, 1), "it has its turns now");
                    }
                    return done.get() == 5;
                });
            }
        }
    }

    @Test
    void shouldTakeThePlaceOfASlotUntilItIsPolled() {
        try (NearPair nodes = new NearPair()) {
            MemoryRegion region = nodes.register(0, LENGTH, 7, AccessFlag.REMOTE_READ);
            int places = nodes.pair.limits().maxSendWorkRequests();
            for (int round = 0; round < 3; round++) {
                for (int i = 0; i < places; i++) {
                    int flags = i % 4 == 3 ? SendFlags.SIGNALLED : 0;
                    assertEquals(
                            PostStatus.ACCEPTED,
                            nodes.pair.postRead(i, nodes.sink, 0, 8, region.address(), region.rkey(), flags));
                }
                assertEquals(
                        PostStatus.QUEUE_FULL,
                        nodes.pair.postRead(0, nodes.sink, 0, 8, region.address(), region.rkey(), 0));
                nodes.client.take(places / 4);
            }
            assertEquals(3L * places, nodes.near());
        }
    }

    @Test
    void shouldFreeTheSlotsOfUnsignalledRequestsBeforeIt() {
        try (NearPair nodes = new NearPair()) {
            MemoryRegion region = nodes.register(
                    0, LENGTH, 7, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ);
            for (int i = 0; i < 100; i++) {
                assertEquals(
                        PostStatus.ACCEPTED,
                        nodes.pair.postWrite(0, nodes.sink, 0, 8, region.address(), region.rkey(), 0));
                assertEquals(
                        PostStatus.ACCEPTED,
                        nodes.pair.postRead(0, nodes.sink, 0, 8, region.address(), region.rkey(), SendFlags.SIGNALLED));
                nodes.client.take(1);
                assertEquals(
                        PostStatus.ACCEPTED,
                        nodes.pair.postRead(0, nodes.sink, 0, 8, region.address(), region.rkey(), 0));
                assertEquals(CompletionStatus.SUCCESS, nodes.read(region, 0, 8));
            }
        }
    }

    @Test
    void shouldLookAtTheTableAgainAfterTheCopy() {
        try (NearPair nodes = new NearPair()) {
            MemoryRegion region = nodes.register(0, LENGTH, 7, AccessFlag.REMOTE_READ);
            nodes.clientMemory.before((source, target, length) -> {
                region.close();
                nodes.shown.fill((byte) 66); // it is the application's again
            });
            assertNotEquals(CompletionStatus.SUCCESS, nodes.read(region, 0, LENGTH), "it was deregistered");
            assertEquals(0, nodes.near());
        }
    }

    @Test
    void shouldReadAgainWhenTheMemoryWasSwappedMeanwhile() {
        try (NearPair nodes = new NearPair()) {
            MemoryRegion region = nodes.register(0, LENGTH, 1, AccessFlag.REMOTE_READ, AccessFlag.ZERO_BASED);
            MemoryRegion other = nodes.register(LENGTH, LENGTH, 2, AccessFlag.REMOTE_READ, AccessFlag.ZERO_BASED);
            AtomicInteger copies = new AtomicInteger();
            nodes.clientMemory.before((source, target, length) -> {
                if (copies.incrementAndGet() == 1) {
                    region.swap(other);
                    nodes.shown.asSlice(0, LENGTH).fill((byte) 66);
                }
            });
            assertEquals(CompletionStatus.SUCCESS, nodes.read(region, 0, LENGTH));
            assertEquals(2, copies.get());
            assertEquals(2, nodes.got(0));
            assertEquals(2, nodes.got(LENGTH - 1));
            nodes.clientMemory.before(null);
            assertEquals(CompletionStatus.SUCCESS, nodes.read(other, 0, LENGTH));
            assertEquals(66, nodes.got(0));
            assertEquals(2, nodes.near());
        }
    }

    /** Four attempts here, as many by the engine; then by TCP. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldGiveUpWhenTheMemoryIsSwappedAllTheTime(boolean asRequest) {
        try (NearPair nodes = new NearPair()) {
            MemoryRegion region = nodes.register(0, LENGTH, 1, AccessFlag.REMOTE_READ, AccessFlag.ZERO_BASED);
            MemoryRegion other = nodes.register(LENGTH, LENGTH, 2, AccessFlag.REMOTE_READ, AccessFlag.ZERO_BASED);
            assertEquals(CompletionStatus.SUCCESS, nodes.read(region, 0, 8), "asks for the table");
            long before = nodes.near();
            Thread posting = Thread.currentThread();
            AtomicInteger copies = new AtomicInteger();
            nodes.clientMemory.before((source, target, length) -> {
                if (Thread.currentThread() == posting) {
                    copies.incrementAndGet();
                }
                region.swap(other);
            });
            SendWorkRequest request = new SendWorkRequest()
                    .read(9, region.address(), region.rkey(), SendFlags.SIGNALLED)
                    .add(nodes.sink, 0, 8);
            assertEquals(
                    PostStatus.ACCEPTED,
                    asRequest
                            ? nodes.pair.post(request)
                            : nodes.pair.postRead(
                                    9, nodes.sink, 0, 8, region.address(), region.rkey(), SendFlags.SIGNALLED));
            TestDevice.Completion completion = nodes.client.take(1).getFirst();
            nodes.clientMemory.before(null);
            assertEquals(CompletionStatus.SUCCESS, completion.status());
            assertEquals(9, completion.wrId());
            assertEquals(4, copies.get(), "attempts of the posting thread");
            assertEquals(before, nodes.near());
        }
    }

    @Test
    void shouldForgetMemoryThatWasSwappedForOtherMemory() {
        try (NearPair nodes = new NearPair()) {
            MemoryRegion region = nodes.register(0, LENGTH, 1, AccessFlag.REMOTE_READ, AccessFlag.ZERO_BASED);
            MemorySegment hidden = nodes.server.memory(LENGTH).fill((byte) 9);
            MemoryRegion other = nodes.server.own(
                    nodes.server.domain().register(hidden, Set.of(AccessFlag.REMOTE_READ, AccessFlag.ZERO_BASED)));
            region.swap(other);
            assertEquals(CompletionStatus.SUCCESS, nodes.read(region, 0, LENGTH));
            assertEquals(9, nodes.got(0));
            assertEquals(0, nodes.near());
            assertEquals(CompletionStatus.SUCCESS, nodes.read(other, 0, LENGTH));
            assertEquals(1, nodes.got(0));
            assertEquals(1, nodes.near());
        }
    }

    @Test
    void shouldFollowARegistrationThatChanges() {
        try (NearPair nodes = new NearPair()) {
            MemoryRegion region = nodes.register(0, LENGTH, 1, AccessFlag.REMOTE_READ);
            assertEquals(CompletionStatus.SUCCESS, nodes.read(region, 0, LENGTH));
            region.reregister(
                    Reregistration.ofMemory(nodes.shown.asSlice(LENGTH, LENGTH).fill((byte) 2)));
            assertEquals(CompletionStatus.SUCCESS, nodes.read(region, 0, LENGTH));
            assertEquals(2, nodes.got(0));
            assertEquals(2, nodes.near());
            region.reregister(Reregistration.ofAccess(Set.of()));
            assertNotEquals(CompletionStatus.SUCCESS, nodes.read(region, 0, LENGTH));
            assertEquals(2, nodes.near());
        }
    }

    @Test
    void shouldDoAListOfReadsAsIfTheyWerePostedOneByOne() {
        try (NearPair nodes = new NearPair()) {
            MemoryRegion region = nodes.register(0, LENGTH, 7, AccessFlag.REMOTE_READ);
            assertEquals(CompletionStatus.SUCCESS, nodes.read(region, 0, LENGTH), "asks for the table");
            long before = nodes.near();
            SendWorkRequestList list = new SendWorkRequestList(5);
            long end = region.address() + LENGTH;
            read(list, 1, nodes, region.address(), region.rkey(), LENGTH);
            read(list, 2, nodes, end - 1, region.rkey(), 1);
            read(list, 3, nodes, end - 1, region.rkey(), 2); // one byte too many
            read(list, 4, nodes, region.address(), ~region.rkey(), 64);
            read(list, 5, nodes, Long.MIN_VALUE, region.rkey(), 64);
            assertEquals(PostStatus.ACCEPTED, nodes.pair.post(list));
            assertEquals(
                    List.of(
                            CompletionStatus.SUCCESS,
                            CompletionStatus.SUCCESS,
                            CompletionStatus.REMOTE_ACCESS_ERROR,
                            CompletionStatus.FLUSHED,
                            CompletionStatus.FLUSHED),
                    nodes.client.take(5).stream()
                            .map(TestDevice.Completion::status)
                            .toList());
            assertEquals(before + 2, nodes.near());
            assertEquals(7, nodes.got(0));
        }
    }

    private static void read(SendWorkRequestList list, long id, NearPair nodes, long address, int rkey, int length) {
        list.next().read(id, address, rkey, SendFlags.SIGNALLED).add(nodes.sink, 0, length);
    }

    @Test
    void shouldReadNothingOnceTheConnectionHasEnded() {
        try (NearPair nodes = new NearPair()) {
            MemoryRegion region = nodes.register(0, LENGTH, 1, AccessFlag.REMOTE_READ);
            assertEquals(CompletionStatus.SUCCESS, nodes.read(region, 0, LENGTH));
            nodes.serverPair.close(); // as the end of its process does
            TestDevice.await("its end", () -> nodes.pair.state() == QueuePairState.ERROR);
            assertEquals(CompletionStatus.FLUSHED, nodes.read(region, 0, LENGTH), "the key is still in the old table");
            assertEquals(1, nodes.near());
        }
    }

    /** Before this side has heard of it. */
    @Test
    void shouldNotSucceedOnceTheResponderHasClosedItsQueuePair() {
        try (NearPair nodes = new NearPair()) {
            MemoryRegion region = nodes.register(0, LENGTH, 1, AccessFlag.REMOTE_READ);
            assertEquals(CompletionStatus.SUCCESS, nodes.read(region, 0, LENGTH), "asks for the table");
            long before = nodes.near();
            nodes.clientMemory.before((source, target, length) -> nodes.serverPair.close());
            assertNotEquals(CompletionStatus.SUCCESS, nodes.read(region, 0, LENGTH));
            assertEquals(before, nodes.near());
        }
    }

    @Test
    void shouldFailInItsTurnIfTheSinkIsNotAccessible() {
        try (NearPair nodes = new NearPair()) {
            MemoryRegion region = nodes.register(0, LENGTH, 1, AccessFlag.REMOTE_READ);
            MemoryRegion unwritable =
                    nodes.client.guarded(LENGTH, AccessFlag.REMOTE_READ).region();
            nodes.pair.postRead(1, unwritable, 0, 8, region.address(), region.rkey(), SendFlags.SIGNALLED);
            assertEquals(
                    CompletionStatus.LOCAL_PROTECTION_ERROR,
                    nodes.client.take(1).getFirst().status());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldWaitForReadersBeforeTheSinkIsDeregistered(boolean asRequest) throws InterruptedException {
        try (NearPair nodes = new NearPair()) {
            MemoryRegion region = nodes.register(0, LENGTH, 1, AccessFlag.REMOTE_READ);
            assertEquals(CompletionStatus.SUCCESS, nodes.read(region, 0, 8), "asks for the table");
            MemoryRegion into =
                    nodes.client.guarded(LENGTH, AccessFlag.LOCAL_WRITE).region();
            Thread[] closing = new Thread[1];
            nodes.clientMemory.before((source, target, length) -> {
                closing[0] = Thread.ofPlatform().start(into::close);
                // The key is invalid soon, and the close then waits for this thread.
                TestDevice.await("the close to begin", () -> nodes.client.counter("memoryRegions") == 1);
                for (int i = 0; i < 1000; i++) {
                    Thread.yield();
                }
                assertFalse(closing[0].getState() == Thread.State.TERMINATED, "this thread still writes there");
            });
            if (asRequest) {
                nodes.pair.post(new SendWorkRequest()
                        .read(1, region.address(), region.rkey(), SendFlags.SIGNALLED)
                        .add(into, 0, LENGTH));
            } else {
                nodes.pair.postRead(1, into, 0, LENGTH, region.address(), region.rkey(), SendFlags.SIGNALLED);
            }
            closing[0].join();
            nodes.client.take(1);
            assertEquals(2, nodes.near());
        }
    }

    @Test
    void shouldChangeOverWhenTheQueueIsNeverEmpty() {
        try (NearPair nodes = new NearPair()) {
            MemoryRegion region = nodes.register(0, LENGTH, 7, AccessFlag.REMOTE_READ);
            TestDevice.Guarded other =
                    nodes.server.guarded(LENGTH, AccessFlag.REMOTE_READ).fill(3);
            for (int round = 1; round <= 50; round++) { // in some of them TCP has answered before the next is posted
                // By TCP, with more behind it all the time.
                for (int i = 0; i < 8; i++) {
                    nodes.pair.postRead(
                            i,
                            nodes.sink,
                            0,
                            8,
                            other.region().address(),
                            other.region().rkey(),
                            SendFlags.SIGNALLED);
                }
                for (int i = 8; i < 48; i++) {
                    assertEquals(
                            PostStatus.ACCEPTED,
                            nodes.pair.postRead(
                                    i, nodes.sink, 0, 8, region.address(), region.rkey(), SendFlags.SIGNALLED));
                    TestDevice.Completion completion = nodes.client.take(1).getFirst();
                    assertEquals(i - 8, completion.wrId(), "in the order in which they were posted");
                    assertEquals(CompletionStatus.SUCCESS, completion.status());
                }
                nodes.client.take(8);
                assertEquals(40L * round, nodes.near(), "each READ of what is shown");
            }
        }
    }

    @Test
    void shouldShowNothingWhenItIsOff() {
        try (VerbsDevice device = new SoftRdmaProvider().open(Map.of("same-host", "off"))) {
            assertThrows(VerbsException.class, () -> device.allocateMemory(LENGTH, new MemorySource.Shareable()));
        }
    }
}
