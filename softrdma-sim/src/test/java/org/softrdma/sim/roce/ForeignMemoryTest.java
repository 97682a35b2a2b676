package org.softrdma.sim.roce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.softrdma.sim.roce.RoceEnds.accept;
import static org.softrdma.sim.roce.RoceEnds.connect;
import static org.softrdma.sim.roce.RoceEnds.expect;
import static org.softrdma.sim.roce.RoceEnds.expectFailed;
import static org.softrdma.sim.roce.RoceEnds.unconnected;
import static org.softrdma.sim.roce.RoceEnds.until;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.softrdma.net.peer.ChildJvm;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.sim.device.SoftRdmaDevice;
import org.softrdma.sim.memory.ForeignMemory;
import org.softrdma.sim.memory.ForeignProcess;
import org.softrdma.sim.memory.PageMemory;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.AddressHandle;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.MemorySource;
import org.softrdma.verbs.MemoryWindow;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePairType;
import org.softrdma.verbs.ReceiveAttributes;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.Reregistration;
import org.softrdma.verbs.RoutingHeader;
import org.softrdma.verbs.SendAttributes;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.UnconnectedQueuePair;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.device.VerbsDevice;

/** Regions that are memory of another process: both sides of each request, and memory that is not there any more. */
@EnabledOnOs(OS.LINUX)
@Timeout(60)
class ForeignMemoryTest {
    private static final int PAGES = 12;
    private static final int LENGTH = 100_000;
    private static final int AT = 77;
    private static final Set<AccessFlag> EVERYTHING = EnumSet.of(
            AccessFlag.LOCAL_WRITE,
            AccessFlag.REMOTE_READ,
            AccessFlag.REMOTE_WRITE,
            AccessFlag.REMOTE_ATOMIC,
            AccessFlag.BIND_WINDOWS);

    private static Process child;
    private static BufferedReader says;
    private static ForeignProcess process;
    private static final List<ForeignMemory> MEMORY = new ArrayList<>();

    /**
     * The other process: says where its memory is, and takes back what it is told to.
     *
     * @param arguments none
     */
    public static void main(String[] arguments) throws IOException {
        List<PageMemory> memory = new ArrayList<>();
        for (int i = 0; i < PAGES; i++) {
            memory.add(PageMemory.allocate(2 * LENGTH, new MemorySource.Anonymous(), 0));
            System.out.println(memory.get(i).segment().address());
        }
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            memory.get(Integer.parseInt(line)).close();
            System.out.println("gone");
        }
    }

    @BeforeAll
    static void begin() throws IOException {
        child = new ProcessBuilder(ChildJvm.command(List.of("-XX:TieredStopAtLevel=1"), ForeignMemoryTest.class))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        says = child.inputReader();
        process = new ForeignProcess(child.pid());
        for (int i = 0; i < PAGES; i++) {
            MEMORY.add(new ForeignMemory(process, Long.parseLong(says.readLine()), 2L * LENGTH));
        }
    }

    @AfterAll
    static void end() {
        child.destroyForcibly();
    }

    /** Memory of the child that no test has had. */
    private static ForeignMemory memory() {
        return MEMORY.removeFirst();
    }

    private static MemoryRegion register(RoceEnds.Side side, ForeignMemory memory) {
        return register(side, memory, EVERYTHING);
    }

    private static MemoryRegion register(RoceEnds.Side side, ForeignMemory memory, Set<AccessFlag> access) {
        return ((SoftRdmaDevice) side.device).register(side.domain, memory, memory.address(), access);
    }

    private static void takeBack(ForeignMemory memory, int index) throws IOException {
        child.outputWriter().append(Integer.toString(index)).append('\n').flush();
        assertEquals("gone", says.readLine(), memory::toString);
    }

    private static void fill(MemorySegment memory, int first) {
        for (int i = 0; i < LENGTH; i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, (byte) (first + i * 31));
        }
    }

    /** The child has the first bytes of some memory. */
    private static void expectThere(ForeignMemory there, long offset, MemorySegment expected, RoceEnds.Side side) {
        MemorySegment seen = side.arena.allocate(expected.byteSize());
        assertTrue(process.read(there.address() + offset, seen.address(), seen.byteSize()));
        assertEquals(-1, expected.mismatch(seen));
    }

    @Test
    void shouldLetAPeerReadWriteAndChangeIt() {
        ForeignMemory there = memory();
        try (RoceEnds ends = new RoceEnds("epoll", RoceEnds.HERE);
                UnconnectedQueuePair from = unconnected(ends.active, QueuePairType.RELIABLE_CONNECTION);
                UnconnectedQueuePair to = unconnected(ends.passive, QueuePairType.RELIABLE_CONNECTION);
                MemoryRegion region = register(ends.passive, there)) {
            connect(from, to);
            RemoteRegion remote = region.remote();
            fill(ends.active.memory, 1);
            accept(from.postWrite(
                    1, ends.active.region, 0, LENGTH, remote.address() + AT, remote.rkey(), SendFlags.SIGNALLED));
            expect(1, ends.active);
            expectThere(there, AT, ends.active.memory.asSlice(0, LENGTH), ends.passive);

            accept(from.postRead(
                    2, ends.active.region, LENGTH, LENGTH, remote.address() + AT, remote.rkey(), SendFlags.SIGNALLED));
            expect(2, ends.active);
            assertEquals(
                    -1, ends.active.memory.asSlice(0, LENGTH).mismatch(ends.active.memory.asSlice(LENGTH, LENGTH)));

            long word = ends.active.memory.get(ValueLayout.JAVA_LONG_UNALIGNED, 3); // 80 = AT + 3 there
            accept(from.postFetchAndAdd(
                    3, ends.active.region, 8, remote.address() + AT + 3, remote.rkey(), 5, SendFlags.SIGNALLED));
            expect(3, ends.active);
            assertEquals(word, ends.active.memory.get(ValueLayout.JAVA_LONG, 8));
            for (long expected : new long[] {word, word + 5}) { // the first one is not what it is
                accept(from.postCompareAndSwap(
                        4,
                        ends.active.region,
                        8,
                        remote.address() + AT + 3,
                        remote.rkey(),
                        expected,
                        42,
                        SendFlags.SIGNALLED));
                expect(4, ends.active);
                assertEquals(word + 5, ends.active.memory.get(ValueLayout.JAVA_LONG, 8));
            }
            ends.active.memory.set(ValueLayout.JAVA_LONG, 8, 42);
            expectThere(there, AT + 3, ends.active.memory.asSlice(8, Long.BYTES), ends.passive);
            assertEquals(0, region.coherentUnit());
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = QueuePairType.class,
            names = {"RELIABLE_CONNECTION", "UNRELIABLE_CONNECTION"})
    void shouldSendFromItAndReceiveInIt(QueuePairType type) {
        ForeignMemory there = memory();
        try (RoceEnds ends = new RoceEnds("epoll", RoceEnds.HERE);
                UnconnectedQueuePair from = unconnected(ends.active, type);
                UnconnectedQueuePair to = unconnected(ends.passive, type);
                MemoryRegion source = register(ends.active, there);
                MemoryRegion sink = register(ends.passive, there)) {
            connect(from, to);
            fill(ends.active.memory, 2);
            assertTrue(process.write(ends.active.memory.address(), there.address(), LENGTH));
            accept(to.postReceive(1, sink, LENGTH, LENGTH));
            accept(from.postSend(2, source, 0, LENGTH - 1, SendFlags.SIGNALLED));
            expect(1, ends.passive);
            expect(2, ends.active);
            expectThere(there, LENGTH, ends.active.memory.asSlice(0, LENGTH - 1), ends.passive);
        }
    }

    @Test
    void shouldSendDatagramsFromItAndReceiveThemInIt() {
        ForeignMemory there = memory();
        try (RoceEnds ends = new RoceEnds("epoll", RoceEnds.HERE);
                UnconnectedQueuePair from = unconnected(ends.active, QueuePairType.UNRELIABLE_DATAGRAM);
                UnconnectedQueuePair to = unconnected(ends.passive, QueuePairType.UNRELIABLE_DATAGRAM);
                MemoryRegion source = register(ends.active, there);
                MemoryRegion sink = register(ends.passive, there);
                AddressHandle host =
                        ends.active.domain.createAddressHandle(to.address().host())) {
            fill(ends.active.memory, 3);
            assertTrue(process.write(ends.active.memory.address(), there.address(), LENGTH));
            accept(to.postReceive(1, sink, LENGTH, LENGTH));
            accept(from.postSendTo(2, source, AT, 1000, host, to.number(), RoceEnds.QUEUE_KEY, SendFlags.SIGNALLED));
            expect(1, ends.passive);
            expectThere(there, LENGTH + RoutingHeader.LENGTH, ends.active.memory.asSlice(AT, 1000), ends.passive);
            MemorySegment header = ends.passive.arena.allocate(RoutingHeader.LENGTH);
            assertTrue(process.read(there.address() + LENGTH, header.address(), RoutingHeader.LENGTH));
            assertEquals(to.address().host().getAddress(), RoutingHeader.destination(header));
        }
    }

    @Test
    void shouldPlaceAnswersInIt() {
        ForeignMemory there = memory();
        try (RoceEnds ends = new RoceEnds("epoll", RoceEnds.HERE);
                UnconnectedQueuePair from = unconnected(ends.active, QueuePairType.RELIABLE_CONNECTION);
                UnconnectedQueuePair to = unconnected(ends.passive, QueuePairType.RELIABLE_CONNECTION);
                MemoryRegion sink = register(ends.active, there)) {
            connect(from, to);
            fill(ends.passive.memory, 4);
            RemoteRegion remote = ends.passive.remote();
            accept(from.postRead(1, sink, AT, LENGTH, remote.address(), remote.rkey(), SendFlags.SIGNALLED));
            expect(1, ends.active);
            expectThere(there, AT, ends.passive.memory.asSlice(0, LENGTH), ends.active);
            accept(from.postFetchAndAdd(2, sink, 8, remote.address(), remote.rkey(), 0, SendFlags.SIGNALLED));
            expect(2, ends.active);
            expectThere(there, 8, ends.passive.memory.asSlice(0, Long.BYTES), ends.active);
        }
    }

    @Test
    void shouldBindWindowsToItAndChangeItsRights() {
        ForeignMemory there = memory();
        try (RoceEnds ends = new RoceEnds("epoll", RoceEnds.HERE);
                UnconnectedQueuePair from = unconnected(ends.active, QueuePairType.RELIABLE_CONNECTION);
                UnconnectedQueuePair to = unconnected(ends.passive, QueuePairType.RELIABLE_CONNECTION);
                MemoryRegion region = register(ends.passive, there);
                MemoryWindow window = ends.passive.domain.allocateWindow()) {
            connect(from, to);
            accept(to.postBindWindow(1, window, region, AT, 100, Set.of(AccessFlag.REMOTE_WRITE), SendFlags.SIGNALLED));
            expect(1, ends.passive);
            fill(ends.active.memory, 5);
            long address = region.address() + AT;
            accept(from.postWrite(2, ends.active.region, 0, 100, address, window.rkey(), SendFlags.SIGNALLED));
            expect(2, ends.active);
            expectThere(there, AT, ends.active.memory.asSlice(0, 100), ends.passive);
            accept(to.postInvalidate(3, window.rkey(), SendFlags.SIGNALLED));
            expect(3, ends.passive);

            Reregistration rights = Reregistration.ofAccess(Set.of(AccessFlag.REMOTE_READ));
            region.reregister(rights);
            accept(from.postRead(4, ends.active.region, 100, 100, address, region.rkey(), SendFlags.SIGNALLED));
            expect(4, ends.active);
            assertEquals(-1, ends.active.memory.asSlice(0, 100).mismatch(ends.active.memory.asSlice(100, 100)));
            accept(from.postWrite(5, ends.active.region, 0, 1, address, region.rkey(), SendFlags.SIGNALLED));
            expectFailed(5, CompletionStatus.REMOTE_ACCESS_ERROR, ends.active);
            assertThrows(
                    IllegalArgumentException.class,
                    () -> region.reregister(Reregistration.ofMemory(ends.passive.memory)));
        }
    }

    // ---- memory that cannot be reached

    enum Unreachable {
        SEND_SOURCE,
        WRITE_SOURCE,
        READ_SINK,
        ATOMIC_SINK,
        READ,
        WRITE,
        ATOMIC,
        RECEIVE
    }

    /** The other process has unmapped what was registered: both sides learn of it, as of a region that is gone. */
    @Test
    void shouldFailRequestsOnMemoryThatTheProcessHasTakenBack() throws IOException {
        ForeignMemory gone = memory();
        int index = PAGES - 1 - MEMORY.size();
        try (RoceEnds ends = new RoceEnds("epoll", RoceEnds.HERE);
                MemoryRegion mine = register(ends.active, gone);
                MemoryRegion theirs = register(ends.passive, gone)) {
            takeBack(gone, index);
            for (Unreachable kind : Unreachable.values()) {
                try (UnconnectedQueuePair from = unconnected(ends.active, QueuePairType.RELIABLE_CONNECTION);
                        UnconnectedQueuePair to = unconnected(ends.passive, QueuePairType.RELIABLE_CONNECTION)) {
                    connect(from, to);
                    expectUnreachable(kind, ends, from, to, mine, theirs);
                }
            }
            assertTrue(ends.passive.counter("accessErrors") >= 3, ends.passive.device.counters()::toString);
        }
    }

    private static void expectUnreachable(
            Unreachable kind,
            RoceEnds ends,
            UnconnectedQueuePair from,
            UnconnectedQueuePair to,
            MemoryRegion mine,
            MemoryRegion theirs) {
        MemoryRegion whole = ends.active.region;
        RemoteRegion good = ends.passive.remote();
        RemoteRegion bad = theirs.remote();
        int flags = SendFlags.SIGNALLED;
        accept(
                switch (kind) {
                    case SEND_SOURCE -> from.postSend(1, mine, 0, 9, flags);
                    case WRITE_SOURCE -> from.postWrite(1, mine, 0, 9, good.address(), good.rkey(), flags);
                    case READ_SINK -> from.postRead(1, mine, 0, 9, good.address(), good.rkey(), flags);
                    case ATOMIC_SINK -> from.postFetchAndAdd(1, mine, 0, good.address(), good.rkey(), 1, flags);
                    case READ -> from.postRead(1, whole, 0, LENGTH, bad.address(), bad.rkey(), flags);
                    case WRITE -> from.postWrite(1, whole, 0, 9, bad.address(), bad.rkey(), flags);
                    case ATOMIC -> from.postFetchAndAdd(1, whole, 0, bad.address(), bad.rkey(), 1, flags);
                    case RECEIVE -> {
                        accept(to.postReceive(2, theirs, 0, 9));
                        yield from.postSend(1, whole, 0, 9, flags);
                    }
                });
        CompletionStatus expected = switch (kind) {
            case SEND_SOURCE, WRITE_SOURCE, READ_SINK, ATOMIC_SINK -> CompletionStatus.LOCAL_PROTECTION_ERROR;
            case READ, WRITE, ATOMIC -> CompletionStatus.REMOTE_ACCESS_ERROR;
            case RECEIVE -> CompletionStatus.REMOTE_OPERATION_ERROR;
        };
        expectFailed(1, expected, ends.active);
        if (kind == Unreachable.RECEIVE) {
            expectFailed(2, CompletionStatus.LOCAL_PROTECTION_ERROR, ends.passive);
        }
    }

    /** Any process will do, and any memory of it that can be read and not be written. */
    @Test
    void shouldRefuseToWriteWhatTheProcessMayNotWrite() throws IOException {
        Process sleeper = new ProcessBuilder("sleep", "100").start();
        try (RoceEnds ends = new RoceEnds("epoll", RoceEnds.HERE);
                MemoryRegion code = register(ends.passive, firstOf(sleeper))) {
            RemoteRegion remote = code.remote();
            try (UnconnectedQueuePair from = unconnected(ends.active, QueuePairType.RELIABLE_CONNECTION);
                    UnconnectedQueuePair to = unconnected(ends.passive, QueuePairType.RELIABLE_CONNECTION)) {
                connect(from, to);
                accept(from.postRead(
                        1, ends.active.region, 0, 4, remote.address(), remote.rkey(), SendFlags.SIGNALLED));
                expect(1, ends.active);
                assertEquals('E', ends.active.memory.get(ValueLayout.JAVA_BYTE, 1)); // of ELF
                // Compared, and so not changed: that needs no right to write.
                accept(from.postCompareAndSwap(
                        2, ends.active.region, 8, remote.address(), remote.rkey(), 0, 1, SendFlags.SIGNALLED));
                expect(2, ends.active);
                accept(from.postFetchAndAdd(
                        3, ends.active.region, 8, remote.address(), remote.rkey(), 1, SendFlags.SIGNALLED));
                expectFailed(3, CompletionStatus.REMOTE_ACCESS_ERROR, ends.active);
            }
        } finally {
            sleeper.destroyForcibly();
        }
    }

    /** Its memory goes before its queue pairs: a peer that asks meanwhile has done nothing wrong, and hears nothing. */
    @ParameterizedTest
    @EnumSource(
            value = Unreachable.class,
            names = {"READ", "WRITE", "ATOMIC", "RECEIVE"})
    void shouldFallSilentOnceTheProcessHasEnded(Unreachable kind) throws Exception {
        Process sleeper = new ProcessBuilder("sleep", "100").start();
        try (RoceEnds ends = new RoceEnds("epoll", RoceEnds.HERE);
                UnconnectedQueuePair from = unconnected(ends.active, QueuePairType.RELIABLE_CONNECTION);
                UnconnectedQueuePair to = unconnected(ends.passive, QueuePairType.RELIABLE_CONNECTION);
                MemoryRegion region = register(ends.passive, firstOf(sleeper))) {
            to.readyToReceive(ReceiveAttributes.of(from.address(), 4));
            to.readyToSend(SendAttributes.ofReads(4));
            from.readyToReceive(ReceiveAttributes.of(to.address(), 4));
            from.readyToSend(SendAttributes.ofReads(4).withTimeout(14, 2));
            sleeper.destroyForcibly().waitFor();
            MemoryRegion own = ends.active.region;
            RemoteRegion remote = region.remote();
            accept(
                    switch (kind) {
                        case READ -> from.postRead(1, own, 0, 9, remote.address(), remote.rkey(), SendFlags.SIGNALLED);
                        case ATOMIC ->
                            from.postFetchAndAdd(1, own, 0, remote.address(), remote.rkey(), 1, SendFlags.SIGNALLED);
                        case RECEIVE -> {
                            accept(to.postReceive(2, region, 0, 9));
                            yield from.postSend(1, own, 0, 9, SendFlags.SIGNALLED);
                        }
                        default -> from.postWrite(1, own, 0, 9, remote.address(), remote.rkey(), SendFlags.SIGNALLED);
                    });
            expectFailed(1, CompletionStatus.RETRY_EXCEEDED_ERROR, ends.active);
            if (kind == Unreachable.RECEIVE) {
                expectFailed(2, CompletionStatus.LOCAL_PROTECTION_ERROR, ends.passive);
            }
        } finally {
            sleeper.destroyForcibly();
        }
    }

    /** Where its program is mapped, by /proc/PID/maps; before exec that is this one, so it waits for another name. */
    private static ForeignMemory firstOf(Process other) throws IOException {
        Path maps = Path.of("/proc", Long.toString(other.pid()), "maps");
        until(() -> first(maps).contains("sleep"), "the process has become sleep");
        String[] range = first(maps).split("[- ]", 3);
        long from = Long.parseLong(range[0], 16);
        return new ForeignMemory(new ForeignProcess(other.pid()), from, Long.parseLong(range[1], 16) - from);
    }

    private static String first(Path maps) {
        try (BufferedReader lines = Files.newBufferedReader(maps)) {
            String line = lines.readLine();
            return line == null ? "" : line;
        } catch (IOException e) {
            throw new AssertionError(maps.toString(), e);
        }
    }

    @Test
    void shouldDropUnreliableMessagesForMemoryThatIsNotThere() throws IOException {
        ForeignMemory gone = memory();
        int index = PAGES - 1 - MEMORY.size();
        try (RoceEnds ends = new RoceEnds("epoll", RoceEnds.HERE);
                UnconnectedQueuePair from = unconnected(ends.active, QueuePairType.UNRELIABLE_CONNECTION);
                UnconnectedQueuePair to = unconnected(ends.passive, QueuePairType.UNRELIABLE_CONNECTION);
                MemoryRegion region = register(ends.passive, gone)) {
            connect(from, to);
            takeBack(gone, index);
            RemoteRegion remote = region.remote();
            accept(from.postWrite(1, ends.active.region, 0, 9, remote.address(), remote.rkey(), SendFlags.NONE));
            until(() -> ends.passive.counter("roce.accessRefused") == 1, "the WRITE is dropped");
            accept(to.postReceive(2, ends.passive.region, 0, 9));
            accept(from.postSend(3, ends.active.region, 0, 9, SendFlags.NONE));
            WorkCompletion received = ends.passive.next();
            assertEquals(2, received.wrId());
            assertEquals(CompletionStatus.SUCCESS, received.status());
        }
    }

    // ---- what is refused

    @Test
    void shouldRefuseWhatItCannotServe() {
        ForeignMemory there = memory();
        try (RoceEnds ends = new RoceEnds("epoll", RoceEnds.HERE);
                MemoryRegion region = register(ends.active, there)) {
            assertThrows(UnsupportedOperationException.class, region::memory);
            for (AccessFlag flag : List.of(AccessFlag.POLLED, AccessFlag.ZERO_BASED)) {
                assertThrows(
                        IllegalArgumentException.class,
                        () -> register(ends.active, there, EnumSet.of(flag, AccessFlag.LOCAL_WRITE)));
            }
            assertThrows(
                    IllegalArgumentException.class,
                    () -> register(ends.active, there, EnumSet.of(AccessFlag.REMOTE_WRITE)));
            ForeignMemory nowhere = new ForeignMemory(process, 64, 64);
            VerbsException unmapped = assertThrows(VerbsException.class, () -> register(ends.active, nowhere));
            assertEquals(VerbsErrorCode.NOT_PERMITTED, unmapped.code());
            ForeignMemory endless = new ForeignMemory(process, there.address(), 1L << 60);
            assertThrows(VerbsException.class, () -> register(ends.active, endless));
            assertThrows(
                    IllegalArgumentException.class,
                    () -> ((SoftRdmaDevice) ends.active.device).register(ends.passive.domain, there, 0, EVERYTHING));
        }
        assertThrows(IllegalArgumentException.class, () -> new ForeignMemory(process, 1L << 62, 1L << 62));
        assertThrows(IllegalArgumentException.class, () -> new ForeignMemory(process, 1L << 62, 0));
        assertThrows(IllegalArgumentException.class, () -> new ForeignMemory(process, -1, 1));
        try (VerbsDevice iwarp = new SoftRdmaProvider().open(Map.of("transport", "epoll"));
                ProtectionDomain domain = iwarp.allocateProtectionDomain()) {
            VerbsException refused = assertThrows(
                    VerbsException.class, () -> ((SoftRdmaDevice) iwarp).register(domain, there, 0, EVERYTHING));
            assertEquals(VerbsErrorCode.NOT_SUPPORTED, refused.code());
            assertTrue(String.valueOf(refused.getMessage()).contains("wire=roce"), refused::toString);
        }
    }
}
