package org.softrdma.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.softrdma.fabric.network.DatagramSettings;
import org.softrdma.fabric.network.NetworkSettings;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.AddressHandle;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairType;
import org.softrdma.verbs.RoutingHeader;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.UnconnectedQueuePair;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * Unreliable queue pairs over a network that loses, doubles and reorders: no message arrives half or at another queue
 * pair, none of a connection twice or behind a later one, and of each that is missing a counter tells.
 */
class UnreliableOnTheFabricTest {
    /** RoceSeedsTest has more. */
    private static final int SEEDS = Integer.getInteger("softrdma.test.seeds", 10);

    private static final Map<String, String> ROCE = Map.of("wire", "roce");
    private static final QueuePairLimits LIMITS = QueuePairLimits.of(32, 32);
    private static final int REPEATS = 20;
    private static final int DELAYS = 50;
    private static final int PAIRS = 3;
    private static final int RECEIVES = 8;
    private static final int MESSAGES = 45;
    private static final int LONGEST = 5_000;
    private static final int LONGEST_DATAGRAM = 1_000;
    private static final int KEY = 0x1111;
    private static final int MOST_LAST_MESSAGES = 1_000;
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(60);

    private static final List<String> CAUSES =
            List.of("roce.missing", "roce.incomplete", "roce.noReceive", "roce.tooLong", "roce.accessRefused");

    private static FabricSettings network(int losses, int repeats, int delays) {
        DatagramSettings datagrams =
                new DatagramSettings(4096, 1 << 18, losses, repeats, delays, TimeUnit.MICROSECONDS.toNanos(200));
        return FabricSettings.DEFAULT.with(NetworkSettings.DEFAULT.with(datagrams));
    }

    /** A device with one domain, one completion queue, and memory that peers may write. */
    private static final class Side {
        final Fabric fabric;
        final VerbsDevice device;
        final ProtectionDomain domain;
        final CompletionQueue queue;
        final MemoryRegion region;
        private final WorkCompletion[] one = WorkCompletion.array(1);

        Side(Fabric fabric, FabricNode node, Owned owned) {
            this.fabric = fabric;
            device = owned.add(node.open(ROCE));
            domain = owned.add(device.allocateProtectionDomain());
            queue = owned.add(device.createCompletionQueue(512));
            region = owned.add(domain.register(
                    owned.add(device.allocateMemory((long) PAIRS * (RECEIVES + 1) * LONGEST))
                            .segment(),
                    EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE)));
        }

        UnconnectedQueuePair queuePair(Owned owned, QueuePairType type) {
            QueuePairAttributes attributes =
                    QueuePairAttributes.of(queue, LIMITS).withDatagrams(KEY).withType(type);
            return owned.add(domain.createQueuePair(attributes));
        }

        /** The next completion, if it comes in time. */
        Optional<WorkCompletion> next(long patienceNs) {
            long endNs = fabric.clock().nanoTime() + patienceNs;
            while (queue.poll(one) == 0) {
                if (fabric.clock().nanoTime() - endNs >= 0) {
                    return Optional.empty();
                }
            }
            assertEquals(CompletionStatus.SUCCESS, one[0].status());
            return Optional.of(one[0]);
        }

        void sent(long wrId) {
            assertEquals(wrId, next(PATIENCE_NS).orElseThrow().wrId());
        }

        long counter(String name) {
            return device.counters().getOrDefault(name, 0L);
        }

        long dropped() {
            return CAUSES.stream().mapToLong(this::counter).sum();
        }
    }

    /** A message that was sent; its bytes are all its number. */
    private record Message(boolean write, int length) {}

    /** A connection: what was sent on it and what has come, whose numbers are the immediates. */
    private static final class Pair {
        final UnconnectedQueuePair from;
        final UnconnectedQueuePair to;
        final List<Message> sent = new ArrayList<>();
        final long inbox;
        int came;
        int last = -1;

        Pair(Side client, Side server, Owned owned, int index) {
            from = client.queuePair(owned, QueuePairType.UNRELIABLE_CONNECTION);
            to = server.queuePair(owned, QueuePairType.UNRELIABLE_CONNECTION);
            to.connect(from.address(), 0, 0);
            from.connect(to.address(), 0, 0);
            inbox = (long) index * (RECEIVES + 1) * LONGEST;
            for (int slot = 1; slot <= RECEIVES; slot++) {
                receive(server, slot);
            }
        }

        void receive(Side server, long slot) {
            accept(to.postReceive(slot, server.region, inbox + slot * LONGEST, LONGEST));
        }

        /** WRITEs go to the place before the RECVs. */
        void send(Side client, Side server, Message message) {
            int number = sent.size();
            sent.add(message);
            MemoryRegion local = client.region;
            local.memory().asSlice(0, LONGEST).fill((byte) (number + 1));
            if (message.write) {
                long there = server.region.address() + inbox;
                int rkey = server.region.rkey();
                accept(from.postWriteImmediate(
                        number, local, 0, message.length, there, rkey, number, SendFlags.SIGNALLED));
            } else {
                accept(from.postSendImmediate(number, local, 0, message.length, number, SendFlags.SIGNALLED));
            }
            client.sent(number);
        }

        void came(Side server, WorkCompletion completion) {
            int number = completion.immediate();
            assertTrue(number > last, number + " behind " + last);
            last = number;
            came++;
            Message message = sent.get(number);
            assertEquals(message.length, completion.byteLength());
            long slot = completion.wrId();
            requireFilled(
                    server.region.memory(), inbox + (message.write ? 0 : slot * LONGEST), message.length, number + 1);
            receive(server, slot);
        }

        boolean isLastThere() {
            return last == sent.size() - 1;
        }
    }

    private static void accept(PostStatus status) {
        assertEquals(PostStatus.ACCEPTED, status);
    }

    private static void requireFilled(MemorySegment memory, long at, long length, int value) {
        for (long i = at; i < at + length; i++) {
            if (memory.get(ValueLayout.JAVA_BYTE, i) != (byte) value) {
                throw new AssertionError("byte " + (i - at) + " of " + length + " is not of message " + value);
            }
        }
    }

    /** What a test does. */
    private interface Body {
        void run(Side client, Side server, Owned owned, Random random);
    }

    private static void run(int losses, int repeats, int delays, Body body) {
        for (long seed = 0; seed < SEEDS; seed++) {
            try {
                run(seed, network(losses, repeats, delays), body);
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError("seed " + seed + ", " + losses + " of a thousand lost: " + e.getMessage(), e);
            }
        }
    }

    private static void run(long seed, FabricSettings settings, Body body) {
        Fabric fabric = new Fabric(seed, settings);
        FabricNode server = fabric.node("server");
        FabricNode client = fabric.node("client");
        fabric.run(client, () -> {
            try (Owned owned = new Owned()) {
                Side there = new Side(fabric, server, owned);
                Side here = new Side(fabric, client, owned);
                body.run(here, there, owned, new Random(seed));
            }
        });
    }

    /** Unreliable connections by one seed, on a network that doubles and reorders, too. */
    static void connections(long seed, int losses) {
        run(seed, network(losses, REPEATS, DELAYS), UnreliableOnTheFabricTest::connections);
    }

    /** Datagrams alike. */
    static void datagrams(long seed, int losses) {
        run(seed, network(losses, REPEATS, DELAYS), UnreliableOnTheFabricTest::datagrams);
    }

    private static int number(List<Pair> pairs, WorkCompletion completion) {
        for (int i = 0; i < pairs.size(); i++) {
            if (pairs.get(i).to.number() == completion.qpNumber()) {
                return i;
            }
        }
        throw new AssertionError("a completion of queue pair " + completion.qpNumber());
    }

    private static void connections(Side client, Side server, Owned owned, Random random) {
        List<Pair> pairs = new ArrayList<>();
        for (int i = 0; i < PAIRS; i++) {
            pairs.add(new Pair(client, server, owned, i));
        }
        for (int i = 0; i < MESSAGES; i++) {
            Pair pair = pairs.get(random.nextInt(PAIRS));
            pair.send(client, server, new Message(random.nextBoolean(), random.nextInt(LONGEST)));
            for (Optional<WorkCompletion> next = server.next(PAUSE_NS);
                    next.isPresent();
                    next = server.next(PAUSE_NS)) {
                pairs.get(number(pairs, next.get())).came(server, next.get());
            }
        }
        int sent = 0;
        int came = 0;
        for (Pair pair : pairs) {
            // One that arrives, so that those before it are known to be missing.
            for (int i = 0; i < MOST_LAST_MESSAGES && !(i > 0 && pair.isLastThere()); i++) {
                pair.send(client, server, new Message(false, 1));
                server.next(PAUSE_NS).ifPresent(completion -> pair.came(server, completion));
            }
            sent += pair.sent.size();
            came += pair.came;
        }
        assertTrue(
                sent - came <= server.dropped(),
                sent + " sent, " + came + " came, but of the rest is counted " + server.device.counters());
    }

    @ParameterizedTest
    @CsvSource({"0, 0, 0", "0, 20, 50", "1, 20, 50", "10, 20, 50", "50, 20, 50", "200, 20, 50"})
    void shouldDeliverMessagesOfConnectionsWholeOnceAndInOrderOrCountThem(int losses, int repeats, int delays) {
        run(losses, repeats, delays, UnreliableOnTheFabricTest::connections);
    }

    /** Each names the queue pair that it is for, and how long it is. */
    private static void datagrams(Side client, Side server, Owned owned, Random random) {
        UnconnectedQueuePair[] from = new UnconnectedQueuePair[PAIRS];
        UnconnectedQueuePair[] to = new UnconnectedQueuePair[PAIRS];
        MemorySegment inboxes = server.region.memory();
        for (int i = 0; i < PAIRS; i++) {
            from[i] = client.queuePair(owned, QueuePairType.UNRELIABLE_DATAGRAM);
            to[i] = server.queuePair(owned, QueuePairType.UNRELIABLE_DATAGRAM);
            for (int slot = 0; slot < RECEIVES; slot++) {
                long at = (long) (i * RECEIVES + slot) * LONGEST;
                accept(to[i].postReceive(i * RECEIVES + slot, server.region, at, LONGEST));
            }
        }
        AddressHandle host =
                owned.add(client.domain.createAddressHandle(to[0].address().host()));
        int[] copies = new int[MESSAGES];
        int[] lengths = new int[MESSAGES];
        int[] targets = new int[MESSAGES];
        for (int number = 0; number < MESSAGES; number++) {
            int sender = random.nextInt(PAIRS);
            targets[number] = random.nextInt(PAIRS);
            lengths[number] = random.nextInt(LONGEST_DATAGRAM);
            client.region.memory().asSlice(0, LONGEST_DATAGRAM).fill((byte) (number + 1));
            accept(from[sender].postSendImmediateTo(
                    number,
                    client.region,
                    0,
                    lengths[number],
                    host,
                    to[targets[number]].number(),
                    KEY,
                    number,
                    SendFlags.SIGNALLED));
            client.sent(number);
            for (Optional<WorkCompletion> next = server.next(PAUSE_NS);
                    next.isPresent();
                    next = server.next(PAUSE_NS)) {
                WorkCompletion came = next.get();
                int which = came.immediate();
                copies[which]++;
                int target = (int) came.wrId() / RECEIVES;
                assertEquals(targets[which], target, "the queue pair that it was for");
                assertEquals(RoutingHeader.LENGTH + lengths[which], came.byteLength());
                long at = came.wrId() * LONGEST;
                requireFilled(inboxes, at + RoutingHeader.LENGTH, lengths[which], which + 1);
                accept(to[target].postReceive(came.wrId(), server.region, at, LONGEST));
            }
        }
        long lost = 0;
        long twice = 0;
        for (int count : copies) {
            lost += count == 0 ? 1 : 0;
            twice += count > 1 ? count - 1 : 0;
        }
        long received = server.counter("roce.packetsReceived");
        assertEquals(MESSAGES - lost + twice, received, "datagrams that came, and are RECVs");
        assertEquals(0, server.dropped());
    }

    @ParameterizedTest
    @CsvSource({"0, 0, 0", "10, 20, 50", "200, 20, 50"})
    void shouldDeliverDatagramsWholeToWhomTheyAreFor(int losses, int repeats, int delays) {
        run(losses, repeats, delays, UnreliableOnTheFabricTest::datagrams);
    }

    @Test
    void shouldCountDatagramsThatFindNoReceive() {
        run(0, 0, 0, (client, server, owned, random) -> {
            UnconnectedQueuePair from = client.queuePair(owned, QueuePairType.UNRELIABLE_DATAGRAM);
            UnconnectedQueuePair to = server.queuePair(owned, QueuePairType.UNRELIABLE_DATAGRAM);
            AddressHandle host =
                    owned.add(client.domain.createAddressHandle(to.address().host()));
            for (int i = 0; i < RECEIVES; i++) {
                accept(from.postSendTo(i, client.region, 0, 1, host, to.number(), KEY, SendFlags.SIGNALLED));
                client.sent(i);
                assertTrue(server.next(PAUSE_NS).isEmpty());
            }
            assertEquals(RECEIVES, server.counter("roce.noReceive"));
        });
    }
}
