package org.softrdma.testkit.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.softrdma.testkit.BytePattern;
import org.softrdma.testkit.Completion;
import org.softrdma.testkit.ConformanceCase;
import org.softrdma.testkit.ConnectionSpec;
import org.softrdma.testkit.Endpoint;
import org.softrdma.testkit.LoopbackPair;
import org.softrdma.testkit.ProviderTraits.Trait;
import org.softrdma.testkit.Task;
import org.softrdma.testkit.TwoNodes;
import org.softrdma.testkit.TwoNodesExtension;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.cm.ConnectionParameters;

/** READ: its bytes, its order among WRITEs, fences, depth, and what it sees of memory that changes meanwhile. */
@ExtendWith(TwoNodesExtension.class)
public final class ReadCases {
    private static final int BYTES = 256;
    private static final int BAD_KEY = 0xDEADBEEF;
    private static final int RECORD_BYTES = 4096;

    /** Made by JUnit. */
    public ReadCases() {}

    @Test
    @ConformanceCase(
            number = 122,
            title = "READ of 0 bytes to 1 MiB: all bytes arrive, none at the responder changes",
            source = "rdma-unit-test RcQpTest.BasicRead; ibv_poll_cq(3) byte_len")
    void shouldReadEveryByteWhenLengthsVary(TwoNodes nodes) {
        LoopbackPair pair = nodes.connect();
        for (int length : new int[] {0, 1, 2, 3, 5, 1460, 4096, 65_517, 65_520, 65_532, 65_536, 100_003, 1 << 20}) {
            BytePattern pattern = nodes.pattern();
            MemoryRegion source = nodes.responder().region(length + 1L, pattern, AccessFlag.REMOTE_READ);
            MemoryRegion sink = nodes.requester().region(length + 1L, AccessFlag.READ_SINK);
            sink.memory().fill(BytePattern.POISON);
            pair.requester().read(length, sink, 0, length, source.address(), source.rkey());
            pair.requester().sends().expect(length, CompletionOpcode.READ, length);
            pattern.require(sink.memory().asSlice(0, length), "READ of " + length + " bytes");
            BytePattern.requireAll(
                    sink.memory().asSlice(length), BytePattern.POISON, "behind a READ of " + length + " bytes");
            pattern.require(source.memory(), "source of a READ of " + length + " bytes");
        }
        pair.responder().sends().expectNone("a READ completes at the requester only");
        pair.responder().receives().expectNone("a READ completes at the requester only");
    }

    @Test
    @ConformanceCase(
            number = 123,
            title = "READ with a bad sink fails at the requester, and the request behind it is flushed",
            source = "rdma-unit-test RcQpTest.ReadInvalidLKey, FlushErrorPollTogether; IBTA 10.7.2.2")
    void shouldFailLocallyWhenSinkIsBad(TwoNodes nodes) {
        MemoryRegion source = nodes.responder().region(BYTES, nodes.pattern(), AccessFlag.REMOTE_READ);
        MemoryRegion sink = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
        sink.memory().fill(BytePattern.POISON);
        List<Integer> keys = new ArrayList<>(List.of(BAD_KEY));
        if (sink.lkey() != sink.rkey()) {
            keys.add(sink.rkey());
        }
        for (int key : keys) {
            LoopbackPair pair = nodes.connect();
            SendWorkRequest request = new SendWorkRequest()
                    .read(1, source.address(), source.rkey(), SendFlags.SIGNALLED)
                    .add(sink.address(), BYTES, key);
            Endpoint.require(pair.requester().queuePair().post(request), "READ");
            pair.requester().read(2, sink, source);
            pair.requester().sends().expect(1, nodes.traits().badReadSink(), "READ into a bad key");
            pair.requester().sends().expect(2, Set.of(CompletionStatus.FLUSHED), "the READ behind it");
            pair.expectBothBroken();
            BytePattern.requireAll(sink.memory(), BytePattern.POISON, "sink");
        }
    }

    @Test
    @ConformanceCase(
            number = 124,
            title = "READ with a bad key is refused; with a bad sink too it still fails",
            source = "rdma-unit-test RcQpTest.ReadInvalidRKey, ReadInvalidRKeyAndInvalidLKey; RFC 5040 section 5.3")
    void shouldRefuseReadWhenKeysAreBad(TwoNodes nodes) {
        MemoryRegion source = nodes.responder().region(BYTES, nodes.pattern(), AccessFlag.REMOTE_READ);
        Refusals.expectReadRefused(nodes, nodes.connect(), source.address(), BAD_KEY, BYTES, "READ by a bad rkey");
        Refusals.expectReadRefused(nodes, nodes.connect(), source.address(), 0, BYTES, "READ by rkey 0");
        if (source.lkey() != source.rkey()) {
            Refusals.expectReadRefused(
                    nodes, nodes.connect(), source.address(), source.lkey(), BYTES, "READ by the peer's lkey");
        }
        LoopbackPair pair = nodes.connect();
        SendWorkRequest request = new SendWorkRequest()
                .read(1, source.address(), BAD_KEY, SendFlags.SIGNALLED)
                .add(0, BYTES, BAD_KEY);
        Endpoint.require(pair.requester().queuePair().post(request), "READ");
        Set<CompletionStatus> either = new java.util.HashSet<>(nodes.traits().readRefused());
        either.addAll(nodes.traits().badReadSink());
        pair.requester().sends().expect(1, either, "READ by a bad lkey and a bad rkey");
        pair.expectBothBroken();
    }

    @Test
    @ConformanceCase(
            number = 125,
            title = "64 READs on a connection that allows one in flight: all succeed, in order",
            source = "ibv_modify_qp(3) max_rd_atomic; RFC 5040 section 7.5")
    void shouldReadInOrderWhenOnlyOneMayBeInFlight(TwoNodes nodes) {
        int count = 64;
        LoopbackPair pair = nodes.connect(
                new ConnectionSpec().parameters(ConnectionParameters.ofReads(1), ConnectionParameters.ofReads(1)));
        // The device's maximum, if the provider cannot tell.
        assertEquals(
                1,
                pair.requester()
                        .queuePair()
                        .connectionCapabilities()
                        .maxOutboundReads()
                        .orElse(1));
        BytePattern pattern = nodes.pattern();
        MemoryRegion source = nodes.responder().region((long) count * BYTES, pattern, AccessFlag.REMOTE_READ);
        MemoryRegion sink = nodes.requester().region((long) count * BYTES, AccessFlag.READ_SINK);
        for (int i = 0; i < count; i++) {
            long offset = (long) i * BYTES;
            pair.requester().read(i, sink, offset, BYTES, source.address() + offset, source.rkey());
        }
        for (int i = 0; i < count; i++) {
            pair.requester().sends().expect(i, CompletionOpcode.READ, BYTES);
        }
        pattern.require(sink.memory(), "READs");
    }

    @Test
    @ConformanceCase(
            number = 127,
            title = "READ behind a WRITE to the same place sees it",
            source = "RFC 5040 section 5.5 (ordering table); IBTA 9.5")
    void shouldSeeTheWriteWhenReadingBehindIt(TwoNodes nodes) {
        int longest = 128 << 10;
        LoopbackPair pair = nodes.connect();
        MemoryRegion source = nodes.requester().region(longest);
        MemoryRegion sink = nodes.requester().region(longest, AccessFlag.READ_SINK);
        MemoryRegion remote = nodes.responder()
                .region(longest, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
        for (int i = 0; i < nodes.times(500); i++) {
            int length = 1 + nodes.random().nextInt(i % 10 == 0 ? longest : BYTES);
            BytePattern pattern = nodes.pattern();
            pattern.fill(source.memory().asSlice(0, length));
            pair.requester().write(1, source, 0, length, remote.address(), remote.rkey());
            pair.requester().read(2, sink, 0, length, remote.address(), remote.rkey());
            pair.requester().sends().expect(1, CompletionOpcode.WRITE, length);
            pair.requester().sends().expect(2, CompletionOpcode.READ, length);
            pattern.require(sink.memory().asSlice(0, length), "READ " + i + " behind its WRITE");
        }
    }

    @Test
    @ConformanceCase(
            number = 128,
            title =
                    "a fenced SEND behind a READ is sent after it: a change that the peer makes in answer comes too late",
            source = "ibv_post_send(3) IBV_SEND_FENCE; RFC 5040 section 5.5")
    void shouldReadTheOldBytesWhenTheSendBehindIsFenced(TwoNodes nodes) {
        int length = 64 << 10;
        int rounds = nodes.times(300);
        LoopbackPair pair = nodes.connect();
        MemoryRegion source = nodes.responder().region(length, AccessFlag.REMOTE_READ);
        MemoryRegion inbox = nodes.responder().region(8, AccessFlag.RECEIVE_SINK);
        MemoryRegion sink = nodes.requester().region(length, AccessFlag.READ_SINK);
        pair.responder().receive(0, inbox, 0, 8);
        Task<Integer> overwriting = nodes.start("overwrite", () -> {
            for (int i = 0; i < rounds; i++) {
                pair.responder().receives().expect(i, CompletionOpcode.RECEIVE, 8);
                source.memory().fill((byte) (i + 1));
                pair.responder().receive(i + 1L, inbox, 0, 8);
                pair.responder().send(i, inbox, 0, 8);
                pair.responder().sends().expect(i, CompletionOpcode.SEND, 8);
            }
            return 0;
        });
        MemoryRegion answer = nodes.requester().region(8, AccessFlag.RECEIVE_SINK);
        for (int i = 0; i < rounds && !overwriting.isDone(); i++) {
            pair.requester().receive(i, answer, 0, 8);
            pair.requester().read(1, sink, source);
            Endpoint.require(
                    pair.requester().queuePair().postSend(2, sink, 0, 8, SendFlags.FENCE | SendFlags.SIGNALLED),
                    "fenced SEND");
            pair.requester().sends().expect(1, CompletionOpcode.READ, length);
            pair.requester().sends().expect(2, CompletionOpcode.SEND, 8);
            BytePattern.requireAll(sink.memory(), (byte) i, "READ before a fenced SEND in round " + i);
            pair.requester().receives().expect(i, CompletionOpcode.RECEIVE, 8);
        }
        overwriting.get();
        pair.responder().queuePair().close();
    }

    @Test
    @ConformanceCase(
            number = 129,
            title = "READs of a record that the responder's CPU rewrites: what passes its checksum is whole and never"
                    + " older",
            source = "IBTA 9.5 (READ is not atomic); RFC 5040 section 5.5")
    void shouldNeverAcceptAMixtureWhenTheRecordChangesUnderTheRead(TwoNodes nodes) {
        MemoryRegion record = nodes.responder().region(RECORD_BYTES, AccessFlag.REMOTE_READ);
        MemoryRegion sink = nodes.requester().region(RECORD_BYTES, AccessFlag.READ_SINK);
        LoopbackPair pair = nodes.connect();
        writeRecord(record.memory(), 1);
        AtomicBoolean stop = new AtomicBoolean();
        Task<Long> writer = nodes.start("rewrite", () -> {
            long version = 1;
            while (!stop.get()) {
                writeRecord(record.memory(), ++version);
                nodes.spin(500);
            }
            return version;
        });
        long newest = 0;
        int reads = nodes.times(10_000);
        int whole = 0;
        try {
            long endNs = nodes.nanoTime() + nodes.timeoutNs();
            // While a writer has lost its core in the middle of a record, no READ is whole.
            for (int i = 0; i < reads || (whole == 0 && nodes.nanoTime() < endNs); i++) {
                pair.requester().read(i, sink, record);
                pair.requester().sends().expect(i, CompletionOpcode.READ, RECORD_BYTES);
                long version = checkedVersion(sink.memory());
                if (version >= 0) {
                    whole++;
                    requireWhole(sink.memory(), version);
                    assertTrue(version >= newest, "READ " + i + " gave version " + version + " after " + newest);
                    newest = version;
                }
            }
        } finally {
            stop.set(true);
        }
        long last = writer.get();
        assertTrue(newest <= last, "version " + newest + " was never written, the last was " + last);
        pair.requester().read(0, sink, record);
        pair.requester().sends().expect(0, CompletionOpcode.READ, RECORD_BYTES);
        assertEquals(last, checkedVersion(sink.memory()), "version once the writer has stopped");
        assertTrue(whole > 0, "not one READ was whole within " + nodes.timeoutNs() + " ns");
    }

    /** Layout: version, words made of the version, CRC-32C of all before it. */
    private static void writeRecord(MemorySegment record, long version) {
        record.set(ValueLayout.JAVA_LONG, 0, version);
        for (int offset = Long.BYTES; offset < RECORD_BYTES - Long.BYTES; offset += Long.BYTES) {
            record.set(ValueLayout.JAVA_LONG, offset, version * offset);
        }
        record.set(ValueLayout.JAVA_LONG, RECORD_BYTES - Long.BYTES, checksum(record));
        VarHandle.releaseFence();
    }

    private static long checkedVersion(MemorySegment record) {
        long stored = record.get(ValueLayout.JAVA_LONG, RECORD_BYTES - Long.BYTES);
        return stored == checksum(record) ? record.get(ValueLayout.JAVA_LONG, 0) : -1;
    }

    private static void requireWhole(MemorySegment record, long version) {
        for (int offset = Long.BYTES; offset < RECORD_BYTES - Long.BYTES; offset += Long.BYTES) {
            assertEquals(
                    version * offset, record.get(ValueLayout.JAVA_LONG, offset), "word at " + offset + " of a record");
        }
    }

    private static long checksum(MemorySegment record) {
        CRC32C crc = new CRC32C();
        crc.update(record.asSlice(0, RECORD_BYTES - Long.BYTES).asByteBuffer());
        return crc.getValue();
    }

    @Test
    @ConformanceCase(
            number = 293,
            title = "many READs of random places in flight on several connections, every byte checked",
            source = "rdma-unit-test traffic simple_rdma, mixed_qp_mode")
    void shouldReadTheRightBytesWhenManyAreInFlight(TwoNodes nodes) {
        int size = 1 << 20;
        int inFlight = 32;
        int slot = 16 << 10;
        int shortest = nodes.traits().has(Trait.MIXES_UP_SHORT_READS) ? 33 : 1;
        BytePattern pattern = nodes.pattern();
        MemoryRegion source = nodes.responder().region(size, pattern, AccessFlag.REMOTE_READ);
        List<LoopbackPair> pairs = new ArrayList<>();
        List<MemoryRegion> sinks = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            pairs.add(nodes.connect());
            sinks.add(nodes.requester().region((long) inFlight * slot, AccessFlag.READ_SINK));
        }
        for (int round = 0; round < nodes.times(20); round++) {
            int[][] places = new int[pairs.size()][inFlight];
            int[][] lengths = new int[pairs.size()][inFlight];
            for (int p = 0; p < pairs.size(); p++) {
                for (int i = 0; i < inFlight; i++) {
                    lengths[p][i] = nodes.random().nextInt(shortest, 1 + (i % 8 == 0 ? slot : BYTES));
                    places[p][i] = nodes.random().nextInt(size - lengths[p][i] + 1);
                    pairs.get(p)
                            .requester()
                            .read(
                                    i,
                                    sinks.get(p),
                                    (long) i * slot,
                                    lengths[p][i],
                                    source.address() + places[p][i],
                                    source.rkey());
                }
            }
            for (int p = 0; p < pairs.size(); p++) {
                for (int i = 0; i < inFlight; i++) {
                    pairs.get(p).requester().sends().expect(i, CompletionOpcode.READ, lengths[p][i]);
                    pattern.requirePart(
                            sinks.get(p).memory().asSlice((long) i * slot, lengths[p][i]),
                            places[p][i],
                            "READ " + i + " on connection " + p + " in round " + round);
                }
            }
        }
    }

    @Test
    @ConformanceCase(
            number = 296,
            title = "READ of a few bytes across a page border returns those of both pages",
            source = "RFC 5040 section 4.4; a device may copy short messages in a way of their own")
    void shouldReadBothPagesWhenAFewBytesCrossTheirBorder(TwoNodes nodes) {
        int page = 4096;
        int longest = BYTES;
        BytePattern pattern = nodes.pattern();
        MemoryRegion source = nodes.responder().region(3L * page, pattern, AccessFlag.REMOTE_READ);
        MemoryRegion sink = nodes.requester().region(longest, AccessFlag.READ_SINK);
        LoopbackPair pair = nodes.connect();
        int border = 2 * page - (int) (source.memory().address() % page);
        for (int length : new int[] {2, 7, 8, 28, 32, 33, longest}) {
            for (int before : new int[] {1, length / 2, length - 1}) {
                int from = border - before;
                pair.requester().read(before, sink, 0, length, source.address() + from, source.rkey());
                pair.requester().sends().expect(before, CompletionOpcode.READ, length);
                pattern.requirePart(
                        sink.memory().asSlice(0, length),
                        from,
                        "READ of " + length + ", " + before + " of the first page");
            }
        }
    }

    @Test
    @ConformanceCase(
            number = 295,
            title = "among READs one is refused: it names the cause, those before it are whole or flushed, those"
                    + " behind flushed",
            source = "RFC 5040 sections 5.5 rule 20, 6.2.1 and 7.1; ibv_poll_cq(3)")
    void shouldNameTheRefusedReadWhenOthersAreInFlight(TwoNodes nodes) {
        int length = 256 << 10;
        int bad = 4;
        BytePattern pattern = nodes.pattern();
        MemoryRegion source = nodes.responder().region(length, pattern, AccessFlag.REMOTE_READ);
        for (int round = 0; round < nodes.times(10); round++) {
            LoopbackPair pair = nodes.connect();
            List<MemoryRegion> sinks = new ArrayList<>();
            for (int i = 0; i < bad + 2; i++) {
                MemoryRegion sink = nodes.requester().region(length, AccessFlag.READ_SINK);
                sinks.add(sink);
                pair.requester().read(i, sink, 0, length, source.address(), i == bad ? BAD_KEY : source.rkey());
            }
            List<Completion> completions = pair.requester().sends().take(bad + 2, "READs, one of them with a bad key");
            int succeeded = Refusals.expectSuccessesThenFlushes(
                    nodes, completions, nodes.traits().readRefused(), "READs around a refused one");
            assertTrue(
                    nodes.traits().readRefused().contains(completions.get(bad).status()),
                    "the READ with a bad key: " + completions);
            assertTrue(
                    succeeded == bad || nodes.traits().has(Trait.FLUSHES_BEFORE_THE_CAUSE),
                    "READs before the refused one: " + completions);
            for (int i = 0; i < succeeded; i++) {
                pattern.require(sinks.get(i).memory(), "READ " + i + " before the refused one");
            }
            pair.expectBothBroken();
        }
    }

    @Test
    @ConformanceCase(
            number = 294,
            title = "both ends READ and WRITE each other's memory at the same time",
            source = "rdma-unit-test traffic basic_rc; RFC 5040 section 5.5")
    void shouldServeBothWaysWhenBothEndsRead(TwoNodes nodes) {
        int length = 96 << 10;
        LoopbackPair pair = nodes.connect();
        BytePattern requesterPattern = nodes.pattern();
        BytePattern responderPattern = nodes.pattern();
        MemoryRegion requesterSource = nodes.requester().region(length, requesterPattern, AccessFlag.REMOTE_READ);
        MemoryRegion responderSource = nodes.responder().region(length, responderPattern, AccessFlag.REMOTE_READ);
        MemoryRegion requesterSink = nodes.requester().region(length, AccessFlag.READ_SINK);
        MemoryRegion responderSink = nodes.responder().region(length, AccessFlag.READ_SINK);
        MemoryRegion requesterTarget =
                nodes.requester().region(length, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        MemoryRegion responderTarget =
                nodes.responder().region(length, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        pair.barrier(); // The requester sends first.
        boolean readsLast = nodes.traits().has(Trait.STANDS_STILL_BEHIND_READS);
        for (int round = 0; round < nodes.times(30); round++) {
            requesterSink.memory().fill((byte) 0);
            responderSink.memory().fill((byte) 0);
            for (int i = 0; i < 8; i++) {
                if (readsLast ? i < 4 : i % 2 == 0) {
                    pair.requester().write(i, requesterSource, responderTarget);
                    pair.responder().write(i, responderSource, requesterTarget);
                } else {
                    pair.requester().read(i, requesterSink, responderSource);
                    pair.responder().read(i, responderSink, requesterSource);
                }
            }
            for (int i = 0; i < 8; i++) {
                CompletionOpcode opcode =
                        (readsLast ? i < 4 : i % 2 == 0) ? CompletionOpcode.WRITE : CompletionOpcode.READ;
                pair.requester().sends().expect(i, opcode, length);
                pair.responder().sends().expect(i, opcode, length);
            }
            responderPattern.require(requesterSink.memory(), "requester's READ in round " + round);
            requesterPattern.require(responderSink.memory(), "responder's READ in round " + round);
        }
        requesterPattern.require(responderTarget.memory(), "the requester's WRITEs");
        responderPattern.require(requesterTarget.memory(), "the responder's WRITEs");
    }
}
