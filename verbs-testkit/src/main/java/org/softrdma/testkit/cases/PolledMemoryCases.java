package org.softrdma.testkit.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.softrdma.testkit.BytePattern;
import org.softrdma.testkit.ConformanceCase;
import org.softrdma.testkit.LoopbackPair;
import org.softrdma.testkit.Node;
import org.softrdma.testkit.Task;
import org.softrdma.testkit.TwoNodes;
import org.softrdma.testkit.TwoNodesExtension;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/** Memory that threads poll: what they can rely on, and the registration that asks for it. */
@ExtendWith(TwoNodesExtension.class)
public final class PolledMemoryCases {
    private static final int WORD = 8;
    private static final int BYTES = 64 << 10;
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    /** Made by JUnit. */
    public PolledMemoryCases() {}

    /**
     * What comes next: at least one word, anywhere in {@link #BYTES}.
     *
     * @param pattern of its bytes
     * @param offset where it goes
     * @param length bytes
     */
    private record Message(BytePattern pattern, int offset, int length) {
        static Message draw(TwoNodes nodes) {
            int offset = nodes.random().nextInt(3 * WORD);
            int most = nodes.random().nextInt(8) == 0 ? BYTES - offset : 600;
            return new Message(
                    nodes.pattern(), offset, 2 * WORD + nodes.random().nextInt(most - 2 * WORD));
        }

        int lastWord() {
            return (offset + length) / WORD * WORD - WORD;
        }

        long valueOfLastWord() {
            byte[] bytes = new byte[WORD];
            for (int i = 0; i < WORD; i++) {
                bytes[i] = pattern.at(lastWord() - offset + i);
            }
            return ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder()).getLong();
        }

        /** Waits for its last word as pollers do, then looks at all of it. */
        void poll(TwoNodes nodes, MemorySegment memory) {
            long expected = valueOfLastWord();
            nodes.await(
                    "the last word of a message to come",
                    () -> (long) LONG.getAcquire(memory, (long) lastWord()) == expected);
            pattern.require(memory.asSlice(offset, length), "what a poller sees that has seen the last word");
        }
    }

    /** One message after the other, each posted when a thread has seen the one before. */
    private static void exchange(TwoNodes nodes, int count, MemorySegment polled, Consumer<Message> transfer) {
        List<Message> messages = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            messages.add(Message.draw(nodes));
        }
        AtomicInteger seen = new AtomicInteger();
        Task<Boolean> poller = nodes.start("poller", () -> {
            for (Message message : messages) {
                message.poll(nodes, polled);
                seen.incrementAndGet();
            }
            return true;
        });
        for (int i = 0; i < count && !poller.isDone(); i++) {
            int before = i;
            transfer.accept(messages.get(i));
            nodes.await("the poller to see message " + i, () -> seen.get() > before || poller.isDone());
        }
        assertTrue(poller.get());
    }

    @Test
    @ConformanceCase(
            number = 121,
            title = "a thread that polls the last word of a WRITE and finds it sees all of the WRITE",
            source = "ibv_query_qp_data_in_order(3); MemoryRegion.coherentUnit")
    void shouldShowAllOfAWriteWhenItsLastWordIsSeen(TwoNodes nodes) {
        nodes.require(Feature.ORDERED_PLACEMENT);
        LoopbackPair pair = nodes.connect();
        MemoryRegion source = nodes.requester().region(BYTES);
        MemoryRegion target =
                nodes.responder().region(BYTES, AccessFlag.POLLED, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        exchange(nodes, nodes.times(2000), target.memory(), message -> {
            message.pattern.fill(source.memory().asSlice(0, message.length));
            pair.requester().write(1, source, 0, message.length, target.address() + message.offset, target.rkey());
            pair.requester().sends().expect(1, CompletionOpcode.WRITE, message.length);
        });
    }

    @Test
    @ConformanceCase(
            number = 340,
            title = "a thread that polls the last word of a READ's sink and finds it sees all that was READ",
            source = "MemoryRegion.coherentUnit")
    void shouldShowAllOfAReadWhenItsLastWordIsSeen(TwoNodes nodes) {
        nodes.require(Feature.ORDERED_PLACEMENT);
        LoopbackPair pair = nodes.connect();
        MemoryRegion source = nodes.responder().region(BYTES, AccessFlag.REMOTE_READ);
        MemoryRegion sink = nodes.requester().region(BYTES, AccessFlag.POLLED, AccessFlag.READ_SINK);
        exchange(nodes, nodes.times(1000), sink.memory(), message -> {
            message.pattern.fill(source.memory().asSlice(0, message.length));
            pair.requester().read(1, sink, message.offset, message.length, source.address(), source.rkey());
            pair.requester().sends().expect(1, CompletionOpcode.READ, message.length);
        });
    }

    @Test
    @ConformanceCase(
            number = 341,
            title = "a READ of POLLED memory whose words a thread changes finds every word as it was at one moment",
            source = "MemoryRegion.coherentUnit")
    void shouldReadEveryWordAsAWholeWhenAThreadChangesThem(TwoNodes nodes) {
        nodes.require(Feature.ORDERED_PLACEMENT);
        LoopbackPair pair = nodes.connect();
        MemoryRegion source = nodes.responder().region(BYTES, AccessFlag.POLLED, AccessFlag.REMOTE_READ);
        MemoryRegion sink = nodes.requester().region(BYTES, AccessFlag.READ_SINK);
        AtomicBoolean stop = new AtomicBoolean();
        AtomicInteger rounds = new AtomicInteger();
        Task<Boolean> writer = nodes.start("writer", () -> {
            nodes.await("the READs to end", () -> {
                long word = (rounds.incrementAndGet() & 0xFF) * 0x0101_0101_0101_0101L;
                for (long at = 0; at < BYTES; at += WORD) {
                    LONG.setOpaque(source.memory(), at, word);
                }
                return stop.get();
            });
            return true;
        });
        nodes.await("the writer to begin", () -> rounds.get() > 0);
        for (int i = 0; i < nodes.times(500); i++) {
            int offset = nodes.random().nextInt(WORD);
            int length = nodes.random().nextInt(8) == 0 ? BYTES - WORD : 3 * WORD;
            pair.requester().read(1, sink, 0, length, source.address() + offset, source.rkey());
            pair.requester().sends().expect(1, CompletionOpcode.READ, length);
            requireWholeWords(sink.memory(), offset, length);
        }
        stop.set(true);
        assertTrue(writer.get());
    }

    /** Every word of the source has eight equal bytes. */
    private static void requireWholeWords(MemorySegment read, int offset, int length) {
        for (int word = WORD; word + WORD <= offset + length; word += WORD) {
            long found = read.get(ValueLayout.JAVA_LONG_UNALIGNED, word - offset);
            assertEquals((found & 0xFF) * 0x0101_0101_0101_0101L, found, "the word at " + word + " of the source");
        }
    }

    @Test
    @ConformanceCase(
            number = 342,
            title = "a POLLED region says its unit and keeps its rights; one that nothing is moved through is refused",
            source = "AccessFlag.POLLED")
    void shouldSayTheUnitWhenARegionIsPolled(TwoNodes nodes) {
        nodes.require(Feature.ORDERED_PLACEMENT);
        Node node = nodes.responder();
        MemoryRegion polled = node.region(BYTES, AccessFlag.POLLED, AccessFlag.LOCAL_WRITE);
        assertEquals(WORD, polled.coherentUnit());
        assertTrue(polled.access().contains(AccessFlag.POLLED), "access: " + polled.access());
        assertFalse(polled.access().contains(AccessFlag.REMOTE_WRITE), "access: " + polled.access());
        assertEquals(0, node.region(BYTES, AccessFlag.LOCAL_WRITE).coherentUnit());
        polled.memory().fill(BytePattern.POISON);
        Refusals.expectWriteRefused(
                nodes,
                nodes.connect(),
                polled.address(),
                polled.rkey(),
                BYTES,
                polled.memory(),
                "WRITE to a POLLED region without REMOTE_WRITE");
        ProtectionDomain domain = node.otherDomain();
        MemorySegment memory = node.memory(BYTES);
        assertThrows(IllegalArgumentException.class, () -> domain.register(memory, Set.of(AccessFlag.POLLED)));
        domain.close(); // Would be refused if a region had been made.
    }

    @Test
    @ConformanceCase(
            number = 343,
            title = "without ORDERED_PLACEMENT a POLLED registration is refused, and regions have no unit",
            source = "AccessFlag.POLLED: NOT_SUPPORTED")
    void shouldRefusePolledMemoryWhenTheDeviceCannot(TwoNodes nodes) {
        Node node = nodes.responder();
        nodes.require(
                !node.device().capabilities().has(Feature.ORDERED_PLACEMENT), "the device places the last word last");
        ProtectionDomain domain = node.otherDomain();
        MemorySegment memory = node.memory(BYTES);
        VerbsException refused = assertThrows(
                VerbsException.class, () -> domain.register(memory, Set.of(AccessFlag.POLLED, AccessFlag.LOCAL_WRITE)));
        assertEquals(VerbsErrorCode.NOT_SUPPORTED, refused.code());
        assertTrue(
                String.valueOf(refused.getMessage()).contains(Feature.ORDERED_PLACEMENT.name()), refused::getMessage);
        domain.close(); // Would be refused if a region had been made.
        assertEquals(0, node.region(BYTES, AccessFlag.LOCAL_WRITE).coherentUnit());
    }
}
