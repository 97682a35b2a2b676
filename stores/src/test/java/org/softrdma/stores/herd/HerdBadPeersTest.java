package org.softrdma.stores.herd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.softrdma.fabric.FabricNode;
import org.softrdma.stores.BlockingStore;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreCounters;
import org.softrdma.stores.StoreDesign;
import org.softrdma.stores.StoreException;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.stores.herd.transport.HerdAnswers;
import org.softrdma.stores.herd.transport.HerdChannel;
import org.softrdma.stores.herd.transport.HerdChannels;
import org.softrdma.stores.herd.transport.RcChannels;
import org.softrdma.stores.herd.wire.HerdShape;
import org.softrdma.verbs.device.VerbsDevice;

/** Peers that WRITE what no client of ours does: it costs them their connection, and nobody else anything. */
class HerdBadPeersTest {
    private static final byte[] KEY = HerdRun.bytes("key");
    private static final byte[] VALUE = HerdRun.bytes("value");
    private static final int TRAILER = 24;

    private interface Crime {
        /** Lays out something in slot 0, which ends at {@code end}; returns its length. */
        int commit(HerdChannel channel, int end);
    }

    /** True if the connection of who does that ends; others do not notice. */
    private static boolean endsItsConnection(Crime crime) {
        return endsItsConnection(1, crime);
    }

    private static boolean endsItsConnection(int workers, Crime crime) {
        boolean[] alive = {true};
        HerdRun run = HerdRun.of(Protocol.SAFE).options(Map.of("workers", Integer.toString(workers)));
        FabricNode bad = run.fabric().node("bad");
        run.run(it -> {
            try (VerbsDevice device = it.clientNode().open(Map.of());
                    BlockingStore store = new BlockingStore(it.client(device));
                    VerbsDevice badDevice = bad.open(Map.of());
                    HerdChannels channels = new RcChannels(
                            badDevice, it.clientContext().servers().getFirst(), HerdAnswers.SENT, false);
                    HerdChannel channel = channels.connect(it.clientContext().conclude(), new StoreCounters(), 4711)) {
                assertTrue(store.put(KEY, VALUE));
                HerdShape shape = channel.welcome().shape();
                channel.write(0, crime.commit(channel, (int) shape.end(0)));
                long untilNs = it.fabric().clock().nanoTime() + 2 * HerdSeat.PART_LIMIT_NS;
                while (alive[0] && it.fabric().clock().nanoTime() < untilNs) {
                    alive[0] = channel.poll((memory, at, length) -> {});
                    it.sleep(HerdRun.SECOND_NS / 100);
                }
                assertEquals(VALUE.length, store.get(KEY).orElseThrow().length);
                assertEquals(1, it.server().space().pairs());
                assertEquals(1, it.server().changes());
            }
        });
        return !alive[0];
    }

    /** Writes a trailer whose checksum fits. */
    private static int request(HerdChannel channel, int end, int word, int valueLength, int slot, int number) {
        MemorySegment slots = channel.slots();
        int length = TRAILER + 8;
        slots.set(ValueLayout.JAVA_LONG_UNALIGNED, end - length, 0x79656b); // "key"
        slots.set(ValueLayout.JAVA_INT_UNALIGNED, end - 24L, word);
        slots.set(ValueLayout.JAVA_INT_UNALIGNED, end - 20L, valueLength);
        slots.set(ValueLayout.JAVA_INT_UNALIGNED, end - 16L, slot);
        slots.set(ValueLayout.JAVA_INT_UNALIGNED, end - 12L, 1);
        slots.set(ValueLayout.JAVA_INT_UNALIGNED, end - 8L, number);
        CRC32C crc = new CRC32C();
        crc.update(slots.asSlice(end - length, length - 4).toArray(ValueLayout.JAVA_BYTE));
        slots.set(ValueLayout.JAVA_INT_UNALIGNED, end - 4L, (int) crc.getValue());
        return length;
    }

    private static int get(int keyLength) {
        return 1 | keyLength << Short.SIZE;
    }

    @Test
    void shouldServeWhoIsRight() {
        assertFalse(endsItsConnection((channel, end) -> request(channel, end, get(3), 0, 0, 1)));
        assertFalse(endsItsConnection((channel, end) -> request(channel, end, get(3), 0, 0, 0x8000_0000)));
    }

    @Test
    void shouldEndTheConnectionOfWhoIsWrong() {
        assertTrue(endsItsConnection((channel, end) -> request(channel, end, 4 | 3 << 16, 0, 0, 1)), "operation");
        assertTrue(endsItsConnection((channel, end) -> request(channel, end, 0x101 | 3 << 16, 0, 0, 1)), "not zero");
        assertTrue(endsItsConnection((channel, end) -> request(channel, end, get(0), 0, 0, 1)), "no key");
        assertTrue(endsItsConnection((channel, end) -> request(channel, end, get(3), 5, 0, 1)), "GET with a value");
        assertTrue(endsItsConnection((channel, end) -> request(channel, end, get(3), 0, 1, 1)), "another slot");
        assertTrue(endsItsConnection((channel, end) -> request(channel, end, get(3), 0, 0, 0)), "number 0");
        assertTrue(endsItsConnection((channel, end) -> request(channel, end, get(251), 0, 0, 1)), "too long a key");
        assertTrue(endsItsConnection((channel, end) -> request(channel, end, get(0xffff), 0, 0, 1)), "beyond the slot");
        assertTrue(
                endsItsConnection((channel, end) -> request(channel, end, 2 | 3 << 16, Integer.MAX_VALUE, 0, 1)),
                "beyond the slot");
        assertTrue(endsItsConnection((channel, end) -> request(channel, end, 2 | 3 << 16, -8, 0, 1)), "negative");
    }

    /** The key belongs to one of 200 workers, and by this seed not to the first. */
    @Test
    void shouldEndTheConnectionOfWhoAsksTheWrongWorker() {
        assertTrue(endsItsConnection(200, (channel, end) -> request(channel, end, get(3), 0, 0, 1)));
    }

    @Test
    void shouldEndTheConnectionOfWhoWritesNoise() {
        for (long seed = 0; seed < 20; seed++) {
            Random random = new Random(seed);
            assertTrue(endsItsConnection((channel, end) -> {
                byte[] noise = new byte[1 + random.nextInt(end)];
                random.nextBytes(noise);
                noise[noise.length - 1] |= 1; // else it may be nothing
                MemorySegment.copy(MemorySegment.ofArray(noise), 0, channel.slots(), end - noise.length, noise.length);
                return noise.length;
            }));
        }
    }

    /** A number that is not the next one: the request is executed, or nobody answers; the server does not mind. */
    @Test
    void shouldExecuteNoNumberThatIsOlderThanTheLast() {
        HerdRun run = HerdRun.of(Protocol.SAFE).options(Map.of("workers", "1"));
        run.run(it -> {
            try (VerbsDevice device = it.clientNode().open(Map.of());
                    HerdChannels channels =
                            new RcChannels(device, it.clientContext().servers().getFirst(), HerdAnswers.SENT, false);
                    HerdChannel channel = channels.connect(it.clientContext().conclude(), new StoreCounters(), 4711)) {
                int end = (int) channel.welcome().shape().end(0);
                int[] answers = new int[1];
                int put = 2 | 3 << Short.SIZE;
                for (int number : new int[] {100, 99, 1, 101, 101, -5, 0x7fff_ffff, 0x8000_0010}) {
                    channel.write(0, request(channel, end, put, 4, 0, number));
                    it.sleep(HerdRun.SECOND_NS);
                    assertTrue(channel.poll((memory, at, length) -> answers[0]++));
                }
                assertEquals(4, answers[0], "100, 101, 0x7fffffff and the one behind it");
                assertEquals(4, it.server().changes());
            }
        });
    }

    @Test
    void shouldRefuseWhatCannotBe() {
        StoreServerContext small = new StoreServerContext(new InetSocketAddress(0))
                .options(Map.of("log", "10"))
                .conclude();
        assertThrows(IllegalArgumentException.class, () -> HerdServerSettings.of(small));
        HerdRun.of(Protocol.SAFE).run(it -> {
            try (VerbsDevice device = it.clientNode().open(Map.of())) {
                Map<String, String> few = Map.of("workers", "1", "index", "2", "entries", "1");
                for (StoreDesign design : List.of(new HerdRcDesign(), new NessieSdDesign())) {
                    boolean herd = design instanceof HerdRcDesign;
                    StoreServerContext large = new StoreServerContext(
                                    new InetSocketAddress(it.clientNode().address(), 1))
                            .window(64)
                            .maxValueLength(1 << 24)
                            .options(herd ? Map.of("workers", "1") : few)
                            .conclude();
                    assertThrows(IllegalArgumentException.class, () -> design.serve(device, large), design.name());
                }
                assertThrows(
                        StoreException.class,
                        () -> new HerdRcDesign()
                                .connect(
                                        device,
                                        it.clientContext().maxValueLength(100).conclude()));
                assertThrows(
                        StoreException.class,
                        () -> new HerdRcDesign()
                                .connect(
                                        device,
                                        it.clientContext()
                                                .protocol(Protocol.PAPER)
                                                .conclude()));
            }
        });
    }
}
