package org.softrdma.sim.fake;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.sim.peer.Frames;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.SendFlags;

/**
 * Every segment of opcodes 8 to 11 that breaks a rule: the right Terminate, byte for byte, and nothing executed, placed
 * or delivered.
 */
class MalformedRfc7306Test {
    private static final String PROTOCOL = "protocolErrors";
    private static final String ACCESS = "accessErrors";
    private static final List<String> NO_OPTIONS = List.of();

    /** Terminate codes: layer, type, code. */
    private static final int UNSPECIFIED = 0x02FF;

    private static final int OPCODE = 0x0206;
    private static final int STREAM_CATASTROPHIC = 0x0207;
    private static final int INVALID_STAG = 0x0100;
    private static final int BOUNDS = 0x0101;
    private static final int RIGHTS = 0x0102;
    private static final int DOMAIN = 0x0103;
    private static final int WRAP = 0x0104;
    private static final int QUEUE_NUMBER = 0x1201;
    private static final int NO_BUFFER = 0x1202;
    private static final int MSN_RANGE = 0x1203;
    private static final int MESSAGE_OFFSET = 0x1204;

    private static final int WORDS = 16;
    private static final int RECV_WR = 100;
    private static final int ATOMIC_WR = 1;

    /** A device and its memory, all of which must stay as it is. */
    private static final class Bench implements AutoCloseable {
        private final FakeDevice device;
        private final MemoryRegion words;
        private final MemoryRegion zeroBased;
        private final MemoryRegion shifted;
        private final MemoryRegion readWrite;
        private final MemoryRegion foreign;
        private final MemoryRegion local;
        private final int staleKey;
        private final List<byte[]> before;
        private final FakeSocket socket;
        private final QueuePair pair;

        Bench(String... options) {
            device = new FakeDevice(options);
            boolean atomic = options.length == 0;
            words = region(device.domain(), 0, atomic);
            zeroBased = region(device.domain(), 0, atomic, AccessFlag.ZERO_BASED);
            shifted = region(device.domain(), 4, atomic, AccessFlag.ZERO_BASED);
            readWrite = region(device.domain(), 0, false, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
            foreign = region(device.own(device.device().allocateProtectionDomain()), 0, atomic);
            local = device.region(9, WORDS * Long.BYTES, AccessFlag.READ_SINK);
            MemoryRegion closed = region(device.domain(), 0, atomic);
            staleKey = closed.rkey();
            closed.close();
            local.memory().fill((byte) 0); // what a SEND of zeros, or a word that was 0, leaves as it is
            before = contents();
            socket = device.socket();
            pair = device.connect(socket, new QueuePairLimits(4, 4, 1, 1, 0), 2);
        }

        private MemoryRegion region(ProtectionDomain domain, int shift, boolean atomic, AccessFlag... more) {
            List<AccessFlag> access = new ArrayList<>(List.of(more));
            access.add(AccessFlag.LOCAL_WRITE);
            if (atomic) {
                access.add(AccessFlag.REMOTE_ATOMIC);
            }
            return device.own(
                    domain.register(device.memory(WORDS * Long.BYTES + shift).asSlice(shift), Set.copyOf(access)));
        }

        private List<byte[]> contents() {
            return Stream.of(words, zeroBased, shifted, readWrite, foreign, local)
                    .map(region -> region.memory().toArray(ValueLayout.JAVA_BYTE))
                    .toList();
        }

        void requireUntouched() {
            List<byte[]> now = contents();
            for (int i = 0; i < now.size(); i++) {
                assertEquals(TestBytes.hex(before.get(i)), TestBytes.hex(now.get(i)), "region " + i);
            }
        }

        byte[] add(int msn, MemoryRegion region, long offset) {
            return Frames.fetchAdd(msn, region.rkey(), region.address() + offset, 1);
        }

        byte[] swap(int msn, MemoryRegion region, long offset) {
            return Frames.compareSwap(msn, region.rkey(), region.address() + offset, 0, 1);
        }

        @Override
        public void close() {
            socket.giveReset();
            device.drain();
            pair.close();
            device.close();
        }
    }

    /**
     * One way to break a rule.
     *
     * @param name for people
     * @param code what the Terminate says
     * @param counter what is counted
     * @param receives RECVs posted
     * @param atomics atomics posted
     * @param succeeded RECVs that succeed before
     * @param answered atomics that succeed before
     * @param options of the device
     * @param segments what the peer sends, the last one wrong
     */
    record Case(
            String name,
            int code,
            String counter,
            int receives,
            int atomics,
            int succeeded,
            int answered,
            List<String> options,
            Function<Bench, List<byte[]>> segments) {
        Case receives(int count, int succeed) {
            return new Case(name, code, counter, count, atomics, succeed, answered, options, segments);
        }

        Case atomics(int count, int succeed) {
            return new Case(name, code, counter, receives, count, succeeded, succeed, options, segments);
        }

        Case options(String... newOptions) {
            return new Case(name, code, counter, receives, atomics, succeeded, answered, List.of(newOptions), segments);
        }

        @Override
        public String toString() {
            return name;
        }
    }

    private static Case one(String name, int code, Function<Bench, byte[]> segment) {
        return many(name, code, bench -> List.of(segment.apply(bench)));
    }

    private static Case many(String name, int code, Function<Bench, List<byte[]>> segments) {
        return new Case(name, code, code >>> 8 == 1 ? ACCESS : PROTOCOL, 2, 0, 0, 0, NO_OPTIONS, segments);
    }

    private static byte[] untagged(int opcode, boolean last, int queue, int msn, int offset, int length) {
        return Frames.untagged(opcode, last, queue, msn, offset, new byte[length]);
    }

    private static List<Case> cases() {
        List<Case> cases = new ArrayList<>();
        lengthsAndQueues(cases);
        immediates(cases);
        requests(cases);
        places(cases);
        responses(cases);
        switchedOff(cases);
        return cases;
    }

    private static void lengthsAndQueues(List<Case> cases) {
        int[] opcodes = {Frames.IMMEDIATE, Frames.IMMEDIATE_SOLICITED, Frames.ATOMIC_REQUEST, Frames.ATOMIC_RESPONSE};
        int[] right = {8, 8, 52, 12};
        int[] queues = {0, 0, 1, 3};
        for (int i = 0; i < opcodes.length; i++) {
            int opcode = opcodes[i];
            int length = right[i];
            int queue = queues[i];
            for (int wrong : new int[] {0, 1, 4, length - 1, length + 1, length + 8, 2000}) {
                cases.add(one(
                                "opcode " + opcode + " of " + wrong + " bytes",
                                UNSPECIFIED,
                                bench -> untagged(opcode, true, queue, 1, 0, wrong))
                        .atomics(1, 0));
            }
            cases.add(one(
                            "opcode " + opcode + " that is not the last segment",
                            UNSPECIFIED,
                            bench -> untagged(opcode, false, queue, 1, 0, length))
                    .atomics(1, 0));
            for (int wrong : new int[] {0, 1, 2, 3, 4, -1}) {
                if (wrong != queue) {
                    cases.add(one(
                                    "opcode " + opcode + " on queue " + wrong,
                                    QUEUE_NUMBER,
                                    bench -> untagged(opcode, true, wrong, 1, 0, length))
                            .atomics(1, 0));
                }
            }
            cases.add(one(
                            "opcode " + opcode + ", tagged",
                            OPCODE,
                            bench -> Frames.tagged(opcode, true, 0, 0, new byte[8]))
                    .atomics(1, 0));
        }
        for (int opcode : new int[] {12, 15}) {
            for (int queue = 0; queue <= 3; queue++) {
                int qn = queue;
                cases.add(one(
                        "opcode " + opcode + " on queue " + queue,
                        OPCODE,
                        bench -> untagged(opcode, true, qn, 1, 0, 8)));
            }
        }
    }

    private static void immediates(List<Case> cases) {
        for (int msn : new int[] {0, 2, -1}) {
            cases.add(one("immediate with MSN " + msn, MSN_RANGE, bench -> Frames.immediate(false, msn, 1)));
        }
        cases.add(many(
                        "immediate with MSN repeated",
                        MSN_RANGE,
                        bench -> List.of(Frames.immediate(false, 1, 1), Frames.immediate(false, 1, 1)))
                .receives(2, 1));
        cases.add(one("immediate with a message offset", MESSAGE_OFFSET, bench -> untagged(8, true, 0, 1, 8, 8)));
        cases.add(one("immediate without RECV", NO_BUFFER, bench -> Frames.immediate(true, 1, 1))
                .receives(0, 0));
        cases.add(many(
                        "third immediate for two RECVs",
                        NO_BUFFER,
                        bench -> List.of(
                                Frames.immediate(false, 1, 1),
                                Frames.immediate(true, 2, 2),
                                Frames.immediate(false, 3, 3)))
                .receives(2, 2));
        for (int begun : new int[] {0, 4}) { // a segment may be empty, and the SEND has begun all the same
            for (int offset : new int[] {0, 4, 5}) {
                cases.add(many(
                                "immediate at offset " + offset + " in the middle of a SEND of " + begun + " bytes",
                                MESSAGE_OFFSET,
                                bench -> List.of(
                                        Frames.untagged(Frames.SEND, false, 0, 1, 0, new byte[begun]),
                                        untagged(8, true, 0, 1, offset, 8)))
                        .receives(1, 0));
            }
        }
    }

    private static void requests(List<Case> cases) {
        for (int msn : new int[] {0, 2, -1}) {
            cases.add(one("atomic with MSN " + msn, MSN_RANGE, bench -> bench.add(msn, bench.words, 0)));
        }
        cases.add(one("atomic with a message offset", MESSAGE_OFFSET, bench -> {
            byte[] segment = bench.add(1, bench.words, 0);
            ByteBuffer.wrap(segment).putInt(14, 52);
            return segment;
        }));
        for (int operation : new int[] {1, 3, 15}) {
            cases.add(one("atomic operation " + operation, OPCODE, bench -> {
                byte[] segment = bench.add(1, bench.words, 0);
                ByteBuffer.wrap(segment).putInt(18, operation);
                return segment;
            }));
        }
    }

    private static void places(List<Case> cases) {
        for (int by = 1; by < Long.BYTES; by++) {
            int shift = by;
            cases.add(one(
                    "fetch-and-add " + by + " off", STREAM_CATASTROPHIC, bench -> bench.add(1, bench.words, shift)));
            cases.add(one(
                    "compare-and-swap " + by + " off",
                    STREAM_CATASTROPHIC,
                    bench -> bench.swap(1, bench.words, shift)));
        }
        int end = WORDS * Long.BYTES;
        cases.add(
                one("misaligned behind the region", STREAM_CATASTROPHIC, bench -> bench.add(1, bench.words, end + 1)));
        cases.add(one("misaligned without the right", STREAM_CATASTROPHIC, bench -> bench.add(1, bench.readWrite, 4)));
        cases.add(one("misaligned by no key", STREAM_CATASTROPHIC, bench -> Frames.fetchAdd(1, 0, 4, 1)));
        cases.add(one(
                "aligned by its offset, but not in memory",
                STREAM_CATASTROPHIC,
                bench -> bench.add(1, bench.shifted, 8)));
        cases.add(one("before the region", BOUNDS, bench -> bench.add(1, bench.words, -8)));
        cases.add(one("behind the region", BOUNDS, bench -> bench.swap(1, bench.words, end)));
        cases.add(one("across the end", BOUNDS, bench -> bench.swap(1, bench.shifted, end - 4)));
        cases.add(one("wrap", WRAP, bench -> Frames.fetchAdd(1, bench.zeroBased.rkey(), -8, 1)));
        cases.add(one("no right", RIGHTS, bench -> bench.add(1, bench.readWrite, 0)));
        cases.add(one("another domain", DOMAIN, bench -> bench.swap(1, bench.foreign, 0)));
        cases.add(
                one("stale key", INVALID_STAG, bench -> Frames.fetchAdd(1, bench.staleKey, bench.words.address(), 1)));
        cases.add(one("lkey", INVALID_STAG, bench -> Frames.fetchAdd(1, bench.words.lkey(), bench.words.address(), 1)));
        cases.add(one("key 0", INVALID_STAG, bench -> Frames.compareSwap(1, 0, 0, 0, 0)));
        cases.add(one(
                "READ of memory with REMOTE_ATOMIC alone",
                RIGHTS,
                bench -> Frames.readRequest(1, 1, 1, 8, bench.words.rkey(), bench.words.address())));
    }

    private static void responses(List<Case> cases) {
        cases.add(one("answer nobody asked for", OPCODE, bench -> Frames.atomicResponse(1, 1, 0)));
        cases.add(many(
                        "one answer too many",
                        OPCODE,
                        bench -> List.of(Frames.atomicResponse(1, 1, 0), Frames.atomicResponse(2, 2, 0)))
                .atomics(1, 1));
        for (int msn : new int[] {0, 2, -1}) {
            cases.add(one("answer with MSN " + msn, MSN_RANGE, bench -> Frames.atomicResponse(msn, 1, 0))
                    .atomics(2, 0));
        }
        for (int identifier : new int[] {0, 2, -1}) {
            cases.add(one(
                            "answer to request " + identifier,
                            UNSPECIFIED,
                            bench -> Frames.atomicResponse(1, identifier, 0))
                    .atomics(2, 0));
        }
        cases.add(one("answer with a message offset", MESSAGE_OFFSET, bench -> untagged(11, true, 3, 1, 12, 12))
                .atomics(1, 0));
        cases.add(one(
                        "READ response to an atomic",
                        OPCODE,
                        bench -> Frames.tagged(
                                Frames.READ_RESPONSE, true, bench.local.lkey(), bench.local.address(), new byte[8]))
                .atomics(1, 0));
    }

    private static void switchedOff(List<Case> cases) {
        for (int opcode = Frames.IMMEDIATE; opcode <= Frames.ATOMIC_RESPONSE; opcode++) {
            int op = opcode;
            for (int queue = 0; queue < 3; queue++) {
                int qn = queue;
                cases.add(one(
                                "opcode " + opcode + " on queue " + queue + " of a device without it",
                                OPCODE,
                                bench -> untagged(op, true, qn, 1, 0, 52))
                        .options("rfc7306", "off"));
            }
            cases.add(one(
                            "opcode " + opcode + " on queue 3 of a device without it",
                            QUEUE_NUMBER,
                            bench -> untagged(op, true, 3, 1, 0, 12))
                    .options("rfc7306", "off"));
        }
    }

    static Stream<Arguments> everything() {
        return cases().stream().map(Arguments::of);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("everything")
    void shouldTerminateAndChangeNothing(Case broken) {
        try (Bench bench = new Bench(broken.options().toArray(String[]::new))) {
            bench.socket.give(Frames.fpdu(Frames.tagged(Frames.WRITE, true, 0, 0), false));
            for (int i = 0; i < broken.receives(); i++) {
                assertEquals(PostStatus.ACCEPTED, bench.pair.postReceive(RECV_WR + i, bench.local, 0, 64));
            }
            for (int i = 0; i < broken.atomics(); i++) {
                assertEquals(
                        PostStatus.ACCEPTED,
                        bench.pair.postFetchAndAdd(ATOMIC_WR + i, bench.local, 64, 8, 7, 1, SendFlags.SIGNALLED));
            }
            bench.device.run();
            int sent = FakeDevice.stream(bench.socket).length;
            List<byte[]> segments = broken.segments().apply(bench);
            byte[] wrong = segments.getLast();
            segments.forEach(segment -> bench.socket.give(Frames.fpdu(segment, false)));
            List<String> told = bench.device.told();

            byte[] stream = FakeDevice.stream(bench.socket);
            boolean read = broken.code() >>> 8 == 1 && (wrong[1] & 0xF) == Frames.READ_REQUEST;
            assertEquals(
                    TestBytes.hex(Frames.fpdu(Frames.terminate(broken.code(), wrong, true, read), false)),
                    TestBytes.hex(TestBytes.slice(stream, sent, stream.length)),
                    "Terminate");
            assertEquals(QueuePairState.ERROR, bench.pair.state());
            assertEquals(1, bench.device.counter(broken.counter()));
            assertEquals(0, bench.device.counter("engineFaults"));
            assertEquals(0, bench.device.counter("responderAtomics"));
            assertEquals(
                    broken.receives() + broken.atomics() - broken.succeeded() - broken.answered(),
                    told.stream().filter(line -> line.contains(" FLUSHED ")).count(),
                    () -> "flushed of " + told);
            assertEquals(
                    broken.succeeded(),
                    told.stream()
                            .filter(line -> line.contains(" RECEIVE_WRITE_IMMEDIATE "))
                            .count(),
                    () -> "immediates of " + told);
            bench.requireUntouched();
        }
    }
}
