package org.softrdma.sim.fake;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.sim.peer.Frames;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendWorkRequest;

/** What is in polled memory at every moment at which a message has come or gone in part. */
class PolledMemoryTest {
    private static final int STEP = Integer.getInteger("softrdma.sample", 1) == 1 ? 1 : 7;
    private static final QueuePairLimits LIMITS = new QueuePairLimits(4, 4, 2, 1, 0);
    private static final int WORD = 8;
    private static final int REGION = 256;
    private static final byte OLD = 0x0F;
    private static final byte POISON = (byte) 0xDB;
    /** Bytes of an FPDU behind its payload if that needs no pad. */
    private static final int CRC_FIELD = 4;

    private static final AccessFlag[] TARGET = {
        AccessFlag.POLLED, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.ZERO_BASED
    };

    /** A device and a connected peer that is the test. */
    private static final class Bench implements AutoCloseable {
        private final boolean crc;
        private final FakeDevice device;
        private final FakeSocket socket;
        private final QueuePair pair;

        Bench(boolean crc, String... options) {
            this.crc = crc;
            String[] all = Arrays.copyOf(options, options.length + 2);
            all[options.length] = "crc";
            all[options.length + 1] = crc ? "on" : "off";
            device = new FakeDevice(all);
            socket = device.socket();
            pair = device.connect(socket, LIMITS, 4);
            assertEquals(QueuePairState.READY_TO_SEND, pair.state());
            give(Frames.fpdu(Frames.tagged(Frames.WRITE, true, 0, 0), crc));
        }

        MemoryRegion target(int length) {
            MemoryRegion region = device.region(1, length, TARGET);
            assertEquals(WORD, region.coherentUnit());
            region.memory().fill(OLD);
            return region;
        }

        void give(byte[] bytes) {
            socket.give(bytes);
            device.run();
        }

        /** A message in segments of these lengths; the last segment takes the rest. */
        byte[] message(int opcode, int stag, long address, byte[] payload, int... lengths) {
            List<byte[]> fpdus = new ArrayList<>();
            int at = 0;
            for (int length : lengths) {
                int end = Math.min(payload.length, at + length);
                fpdus.add(segment(opcode, false, stag, address + at, TestBytes.slice(payload, at, end)));
                at = end;
            }
            fpdus.add(segment(opcode, true, stag, address + at, TestBytes.slice(payload, at, payload.length)));
            return TestBytes.concat(fpdus.toArray(byte[][]::new));
        }

        byte[] segment(int opcode, boolean last, int stag, long address, byte[] payload) {
            return Frames.fpdu(Frames.tagged(opcode, last, stag, address, payload), crc);
        }

        @Override
        public void close() {
            socket.giveReset();
            device.drain();
            pair.close();
            device.close();
        }
    }

    private static byte[] payload(int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (0x80 | i);
        }
        return bytes;
    }

    private static byte[] bytes(MemorySegment memory) {
        return memory.toArray(ValueLayout.JAVA_BYTE);
    }

    /** Where what comes last of a range begins: its last word, else its last byte. */
    private static int lastWord(int start, int length) {
        int word = (start + length) / WORD * WORD - WORD;
        return word >= start ? word : start + length - 1;
    }

    /** No byte from the last word on, no word in part, and nothing wrong. */
    private static void requireIncomplete(byte[] memory, int start, byte[] message, String how) {
        int end = start + message.length;
        for (int i = 0; i < memory.length; i++) {
            boolean mayBeThere = i >= start && i < lastWord(start, message.length);
            if (memory[i] != OLD) {
                assertTrue(mayBeThere, how + ": byte " + i + " is there too early, the range begins at " + start);
                assertEquals(message[i - start], memory[i], how + ": byte " + i);
            }
        }
        for (int word = Math.ceilDiv(start, WORD) * WORD; word + WORD <= end; word += WORD) {
            int there = 0;
            for (int i = word; i < word + WORD; i++) {
                there += memory[i] == OLD ? 0 : 1;
            }
            assertTrue(there == 0 || there == WORD, how + ": the word at " + word + " is there in part");
        }
    }

    private static void requireComplete(byte[] memory, int start, byte[] message, String how) {
        byte[] expected = new byte[memory.length];
        Arrays.fill(expected, OLD);
        System.arraycopy(message, 0, expected, start, message.length);
        assertArrayEquals(expected, memory, how);
    }

    /** Segments that end in words, at their borders, and with one of no bytes at the end. */
    private static final int[][] CUTS = {{}, {1}, {13}, {8, 3}, {5, 0, 16, 1}, {100}};

    @ParameterizedTest
    @CsvSource({"false,0", "false,3", "false,7", "true,0", "true,5"})
    void shouldStoreTheLastWordOfAWriteWhenAllOfItHasCome(boolean crc, int start) {
        try (Bench bench = new Bench(crc)) {
            MemoryRegion region = bench.target(REGION);
            for (int length : new int[] {1, 4, 7, 8, 9, 14, 16, 23, 40, 61}) {
                byte[] message = payload(length);
                for (int[] lengths : CUTS) {
                    byte[] stream = bench.message(Frames.WRITE, region.rkey(), start, message, lengths);
                    for (int cut = 0; cut < stream.length; cut++) {
                        String how = length + " bytes in " + Arrays.toString(lengths) + ", cut at " + cut;
                        region.memory().fill(OLD);
                        bench.give(TestBytes.slice(stream, 0, cut));
                        requireIncomplete(bytes(region.memory()), start, message, how);
                        bench.give(TestBytes.slice(stream, cut, stream.length));
                        requireComplete(bytes(region.memory()), start, message, how);
                    }
                }
            }
        }
    }

    /** The sink is the application's, and it may poll it before it polls the completion queue. */
    @ParameterizedTest
    @CsvSource({"false,0", "false,3", "true,5"})
    void shouldStoreTheLastWordOfAReadsDataWhenAllOfItHasCome(boolean crc, int start) {
        try (Bench bench = new Bench(crc)) {
            MemoryRegion sink = bench.device.region(1, REGION, AccessFlag.READ_SINK, AccessFlag.POLLED);
            for (int length : new int[] {1, 8, 9, 40, 61}) {
                byte[] message = payload(length);
                for (int[] lengths : CUTS) {
                    if (Arrays.stream(lengths).sum() >= length) {
                        continue; // the data of a READ has no empty segment behind it
                    }
                    long address = sink.address() + start;
                    byte[] stream = bench.message(Frames.READ_RESPONSE, sink.lkey(), address, message, lengths);
                    for (int cut = 0; cut < stream.length; cut++) {
                        String how = length + " bytes in " + Arrays.toString(lengths) + ", cut at " + cut;
                        sink.memory().fill(OLD);
                        bench.pair.postRead(1, sink, start, length, 1, 2, SendFlags.SIGNALLED);
                        bench.give(TestBytes.slice(stream, 0, cut));
                        requireIncomplete(bytes(sink.memory()), start, message, how);
                        bench.give(TestBytes.slice(stream, cut, stream.length));
                        requireComplete(bytes(sink.memory()), start, message, how);
                        assertEquals(List.of(CompletionStatus.SUCCESS), bench.device.drain(), how);
                    }
                }
            }
        }
    }

    /** A payload that would be received straight into other memory is not received straight into this. */
    @ParameterizedTest
    @CsvSource({"20000,3", "64748,0", "5000,1"})
    void shouldReceiveNothingDirectly(int length, int start) {
        try (Bench bench = new Bench(false)) {
            MemoryRegion region = bench.target(length + WORD);
            byte[] message = TestBytes.pattern(5, length);
            for (int i = 0; i < length; i++) {
                message[i] |= (byte) 0x80;
            }
            byte[] stream = bench.message(Frames.WRITE, region.rkey(), start, message);
            int payloadEnd = 16 + length;
            for (int cut : new int[] {100, 300, 3000, payloadEnd - 9, payloadEnd - 1, payloadEnd, stream.length - 1}) {
                region.memory().fill(OLD);
                bench.give(TestBytes.slice(stream, 0, Math.min(cut, 200)));
                bench.give(TestBytes.slice(stream, Math.min(cut, 200), cut));
                requireIncomplete(bytes(region.memory()), start, message, "cut at " + cut);
                bench.give(TestBytes.slice(stream, cut, stream.length));
                requireComplete(bytes(region.memory()), start, message, "cut at " + cut);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldNeverStoreTheLastWordWhenTheStreamBreaks(boolean crc) {
        int start = 3;
        byte[] message = payload(40);
        for (int cut = 0; ; cut++) {
            try (Bench bench = new Bench(crc)) {
                MemoryRegion region = bench.target(REGION);
                byte[] stream = bench.message(Frames.WRITE, region.rkey(), start, message, 19);
                if (cut == stream.length) {
                    return;
                }
                bench.give(TestBytes.slice(stream, 0, cut));
                bench.socket.giveReset();
                bench.device.drain();
                assertEquals(QueuePairState.ERROR, bench.pair.state());
                requireIncomplete(bytes(region.memory()), start, message, "broken at " + cut);
            }
        }
    }

    /** Also when all the payload has come, and what is held back has only to be stored. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldTouchNothingOfARegionThatWasDeregisteredMeanwhile(boolean crc) {
        for (int cut = 0; ; cut++) {
            try (Bench bench = new Bench(crc)) {
                MemoryRegion region = bench.target(REGION);
                MemorySegment memory = region.memory();
                byte[] stream = bench.message(Frames.WRITE, region.rkey(), 3, payload(40), 19);
                if (cut == stream.length) {
                    return;
                }
                bench.give(TestBytes.slice(stream, 0, cut));
                region.close();
                memory.fill(POISON);
                bench.give(TestBytes.slice(stream, cut, stream.length));
                requireAll(memory, "deregistered at " + cut);
                assertEquals(QueuePairState.ERROR, bench.pair.state(), "deregistered at " + cut);
                assertEquals(0, bench.device.counter("engineFaults"));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldFailAReadWhoseSinkWasDeregisteredMeanwhile(boolean crc) {
        for (int cut = 0; ; cut++) {
            try (Bench bench = new Bench(crc)) {
                MemoryRegion sink = bench.device.region(1, REGION, AccessFlag.READ_SINK, AccessFlag.POLLED);
                MemorySegment memory = sink.memory();
                byte[] stream = bench.message(Frames.READ_RESPONSE, sink.lkey(), sink.address() + 3, payload(40), 19);
                if (cut == stream.length) {
                    return;
                }
                bench.pair.postRead(1, sink, 3, 40, 1, 2, SendFlags.SIGNALLED);
                bench.give(TestBytes.slice(stream, 0, cut));
                sink.close();
                memory.fill(POISON);
                bench.give(TestBytes.slice(stream, cut, stream.length));
                requireAll(memory, "deregistered at " + cut);
                assertEquals(
                        List.of(CompletionStatus.LOCAL_PROTECTION_ERROR),
                        bench.device.drain(),
                        "deregistered at " + cut);
            }
        }
    }

    private static void requireAll(MemorySegment memory, String how) {
        byte[] expected = new byte[(int) memory.byteSize()];
        Arrays.fill(expected, POISON);
        assertArrayEquals(expected, bytes(memory), how);
    }

    /**
     * RFC 5041 section 5.3 wants segments to go on where the last one ended. A peer that jumps changes its own message
     * only.
     */
    @Test
    void shouldPlaceASegmentThatDoesNotGoOnBeforeTheLastWord() {
        try (Bench bench = new Bench(false)) {
            MemoryRegion region = bench.target(REGION);
            byte[] message = payload(40);
            bench.give(bench.segment(Frames.WRITE, false, region.rkey(), 100, TestBytes.slice(message, 0, 21)));
            byte[] rest = bench.segment(Frames.WRITE, true, region.rkey(), 8, TestBytes.slice(message, 21, 40));
            bench.give(TestBytes.slice(rest, 0, rest.length - CRC_FIELD));
            byte[] found = bytes(region.memory());
            assertArrayEquals(TestBytes.slice(message, 0, 21), TestBytes.slice(found, 100, 121));
            assertArrayEquals(TestBytes.slice(message, 21, 29), TestBytes.slice(found, 8, 16));
            assertEquals(OLD, found[16], "the last word is from 16 to 24");
            bench.give(TestBytes.slice(rest, rest.length - CRC_FIELD, rest.length));
            assertArrayEquals(
                    TestBytes.slice(message, 21, 40),
                    TestBytes.slice(bytes(region.memory()), 8, 27),
                    "the whole segment");
        }
    }

    /** What is held back belongs to the memory that it was meant for. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldPlaceWhatItHoldsWhereItBelongsWhenTheRegionIsSwapped(boolean deregistered) {
        try (Bench bench = new Bench(false)) {
            MemoryRegion region = bench.target(REGION);
            MemoryRegion other = bench.target(REGION);
            MemorySegment first = region.memory();
            MemorySegment second = other.memory();
            byte[] message = payload(40);
            bench.give(bench.segment(Frames.WRITE, false, region.rkey(), 0, TestBytes.slice(message, 0, 20)));
            region.swap(other);
            if (deregistered) {
                other.close();
                first.fill(POISON);
            }
            bench.give(bench.segment(Frames.WRITE, true, region.rkey(), 20, TestBytes.slice(message, 20, 40)));
            requireComplete(bytes(second), 20, TestBytes.slice(message, 20, 40), "the second half");
            if (deregistered) {
                requireAll(first, "memory that was deregistered after the swap");
            } else {
                requireComplete(bytes(first), 0, TestBytes.slice(message, 0, 20), "the first half");
            }
        }
    }

    // ---- sources

    enum Outgoing {
        READ_RESPONSE,
        WRITE,
        WRITE_OF_TWO_ENTRIES
    }

    /**
     * The source changes all at once, at any moment between two calls of the kernel: no word leaves half old and half
     * new.
     */
    @Tag("sampled")
    @ParameterizedTest
    @CsvSource({
        "READ_RESPONSE,0,96",
        "READ_RESPONSE,0,93",
        "READ_RESPONSE,3,97",
        "READ_RESPONSE,5,8",
        "READ_RESPONSE,5,64748",
        "WRITE,3,93",
        "WRITE,0,9",
        "WRITE,6,64748",
        "WRITE_OF_TWO_ENTRIES,3,93",
        "WRITE_OF_TWO_ENTRIES,2,8"
    })
    void shouldSendWordsAsAWhole(Outgoing kind, int start, int segment) {
        int length = 400;
        try (Bench bench = new Bench(false, "segment", "" + segment, "copy-below", "1")) {
            MemoryRegion source = bench.device.region(1, 512, AccessFlag.REMOTE_READ, AccessFlag.POLLED);
            int msn = 0;
            for (int taken = 1; taken < length + 60; taken += STEP) {
                for (int changing = 0; changing < 2; changing++) {
                    source.memory().fill(OLD);
                    int[] calls = {0};
                    int first = taken;
                    int change = changing;
                    bench.socket.taking(offered -> {
                        int call = calls[0]++;
                        if (call == change) {
                            source.memory().fill(POISON);
                        }
                        return call == 0 ? Math.min(first, offered) : offered;
                    });
                    int before = FakeDevice.stream(bench.socket).length;
                    send(bench, kind, source, start, length, ++msn);
                    byte[] sent = FakeDevice.stream(bench.socket);
                    byte[] found = payloads(TestBytes.slice(sent, before, sent.length));
                    String how = kind + ", the first call takes " + taken + ", changed in call " + changing;
                    assertEquals(length, found.length, how);
                    requireWholeWords(found, start, how);
                }
            }
        }
    }

    private static void send(Bench bench, Outgoing kind, MemoryRegion source, int start, int length, int msn) {
        switch (kind) {
            case READ_RESPONSE ->
                bench.give(Frames.fpdu(
                        Frames.readRequest(msn, 5, 0, length, source.rkey(), source.address() + start), bench.crc));
            case WRITE ->
                assertEquals(
                        PostStatus.ACCEPTED, bench.pair.postWrite(1, source, start, length, 0, 7, SendFlags.SIGNALLED));
            case WRITE_OF_TWO_ENTRIES -> {
                int border = 104 - start; // at a word
                assertEquals(
                        PostStatus.ACCEPTED,
                        bench.pair.post(new SendWorkRequest()
                                .write(1, 0, 7, SendFlags.SIGNALLED)
                                .add(source, start, border)
                                .add(source, start + border, length - border)));
            }
        }
        int completions = kind == Outgoing.READ_RESPONSE ? 0 : 1;
        assertEquals(completions, bench.device.drain().size());
    }

    /** The payloads of tagged FPDUs without CRC, one behind the other. */
    private static byte[] payloads(byte[] stream) {
        byte[] all = {};
        for (int at = 0; at < stream.length; ) {
            int ulpdu = ByteBuffer.wrap(stream).getShort(at) & 0xFFFF;
            all = TestBytes.concat(all, TestBytes.slice(stream, at + 16, at + 2 + ulpdu));
            at += (2 + ulpdu + 3) / 4 * 4 + CRC_FIELD;
        }
        return all;
    }

    private static void requireWholeWords(byte[] found, int start, String how) {
        for (int word = Math.ceilDiv(start, WORD) * WORD; word + WORD <= start + found.length; word += WORD) {
            for (int i = word; i < word + WORD; i++) {
                assertEquals(
                        found[word - start], found[i - start], how + ": the word at " + word + " left in two parts");
            }
        }
    }
}
