package org.softrdma.fabric.network;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.softrdma.fabric.memory.GrainCopier;
import org.softrdma.fabric.memory.Grains;
import org.softrdma.fabric.memory.RegisteredRanges;
import org.softrdma.fabric.memory.VirtualAddresses;
import org.softrdma.fabric.scheduler.Choices;
import org.softrdma.fabric.scheduler.Group;
import org.softrdma.fabric.scheduler.Scheduler;
import org.softrdma.net.transport.DatagramBatch;
import org.softrdma.net.transport.DatagramLoop;
import org.softrdma.net.transport.DatagramSocket;
import org.softrdma.net.transport.ListenException;
import org.softrdma.net.transport.PeerAddress;

/** Datagrams of the network: lost, repeated and overtaken, but never changed. */
class DatagramTest {
    private static final long SECOND_NS = TimeUnit.SECONDS.toNanos(1);
    private static final int SEEDS = 50;
    private static final int BYTES = 100;
    private static final int COUNT = 50;
    private static final DatagramSettings HARMLESS = DatagramSettings.DEFAULT.harmless();

    /** Two hosts. */
    private static final class Hosts {
        final Scheduler scheduler;
        final Network network;
        final InetAddress here;
        final InetAddress there;
        final OpenCount open = new OpenCount(0);
        private final MemorySegment memory = Arena.ofAuto().allocate(2 * 4096L * COUNT);

        Hosts(Scheduler scheduler, DatagramSettings settings) throws IOException {
            this.scheduler = scheduler;
            network = new Network(
                    scheduler,
                    NetworkSettings.DEFAULT.with(settings),
                    new GrainCopier(scheduler, new RegisteredRanges(scheduler, new VirtualAddresses()), Grains.NONE));
            here = InetAddress.getByAddress(new byte[] {10, 0, 0, 1});
            there = InetAddress.getByAddress(new byte[] {10, 0, 0, 2});
            network.host(here);
            network.host(there);
            scheduler.add(network);
        }

        DatagramSocket bind(InetAddress host, int port) throws IOException {
            return network.bind(host, new InetSocketAddress(host, port), open, writable -> {});
        }

        /** Numbered datagrams of equal length, each filled with its number. */
        DatagramBatch numbered(int count, int length, InetSocketAddress to) {
            DatagramBatch batch = new DatagramBatch(count);
            for (int i = 0; i < count; i++) {
                MemorySegment bytes = memory.asSlice((long) i * length, length);
                bytes.fill((byte) i);
                batch.add(bytes.address(), length, to);
            }
            return batch;
        }

        /** Sends all, whatever room there is at a time. */
        void sendAll(DatagramSocket socket, DatagramBatch batch) throws IOException {
            for (int sent = 0; sent < batch.size(); ) {
                sent += socket.send(batch, sent, batch.size() - sent);
                scheduler.idle();
            }
        }

        /** The numbers of what arrives within a second, in that order. */
        List<Integer> receiveAll(DatagramSocket socket, int length) throws IOException {
            scheduler.sleep(SECOND_NS);
            return receive(socket, length);
        }

        List<Integer> receive(DatagramSocket socket, int length) throws IOException {
            MemorySegment bytes = memory.asSlice(4096L * COUNT, length);
            List<Integer> numbers = new ArrayList<>();
            DatagramBatch batch = new DatagramBatch(1);
            batch.addBuffer(bytes.address(), length);
            while (socket.receive(batch) == 1) {
                assertEquals(length, batch.length(0));
                byte number = bytes.get(ValueLayout.JAVA_BYTE, 0);
                for (int i = 0; i < length; i++) {
                    assertEquals(number, bytes.get(ValueLayout.JAVA_BYTE, i), "byte " + i + " of datagram " + number);
                }
                numbers.add((int) number);
            }
            return numbers;
        }
    }

    private interface Body {
        void run(Hosts hosts) throws IOException;
    }

    private static long run(long seed, DatagramSettings settings, Body body) {
        Scheduler scheduler = new Scheduler(new Choices(seed), Scheduler.Limits.DEFAULT);
        scheduler.run(new Group("node"), "main", () -> {
            try {
                body.run(new Hosts(scheduler, settings));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        return scheduler.trace().hash();
    }

    /** Sends numbered datagrams, and adds to a list what arrives. */
    private static long exchange(long seed, DatagramSettings settings, List<Integer> arrived) {
        return run(seed, settings, hosts -> {
            DatagramSocket sender = hosts.bind(hosts.here, 0);
            DatagramSocket receiver = hosts.bind(hosts.there, 7);
            hosts.sendAll(sender, hosts.numbered(COUNT, BYTES, receiver.localAddress()));
            arrived.addAll(hosts.receiveAll(receiver, BYTES));
        });
    }

    @Test
    void shouldDeliverEachOnceInAnyOrderWhereNothingGoesWrong() {
        int inOrder = 0;
        for (long seed = 0; seed < SEEDS; seed++) {
            List<Integer> arrived = new ArrayList<>();
            exchange(seed, HARMLESS, arrived);

            assertEquals(COUNT, arrived.size(), "seed " + seed);
            assertEquals(COUNT, new HashSet<>(arrived).size(), "seed " + seed);
            inOrder += arrived.equals(arrived.stream().sorted().toList()) ? 1 : 0;
        }

        assertTrue(inOrder < SEEDS / 2, inOrder + " of " + SEEDS + " in order");
    }

    @Test
    void shouldLoseAndRepeatAsOftenAsTheSettingsSay() {
        DatagramSettings bad = new DatagramSettings(4096, 1 << 16, 300, 200, 100, SECOND_NS / 1000);
        int lost = 0;
        int repeated = 0;
        for (long seed = 0; seed < SEEDS; seed++) {
            List<Integer> arrived = new ArrayList<>();
            exchange(seed, bad, arrived);
            Set<Integer> once = new HashSet<>(arrived);
            lost += COUNT - once.size();
            repeated += arrived.size() - once.size();
        }
        int all = SEEDS * COUNT;

        assertTrue(lost > all * 25 / 100 && lost < all * 35 / 100, lost + " of " + all + " lost");
        assertTrue(repeated > all * 10 / 100 && repeated < all * 18 / 100, repeated + " of " + all + " repeated");
    }

    @Test
    void shouldDoTheSameBySameSeed() {
        DatagramSettings bad = new DatagramSettings(4096, 1 << 16, 300, 200, 100, SECOND_NS / 1000);
        Set<Long> hashes = new HashSet<>();
        for (long seed = 0; seed < 20; seed++) {
            long hash = exchange(seed, bad, new ArrayList<>());
            assertEquals(hash, exchange(seed, bad, new ArrayList<>()), "seed " + seed);
            hashes.add(hash);
        }

        assertEquals(20, hashes.size());
    }

    @Test
    void shouldDoWhatAnInspectorWants() {
        run(1, HARMLESS, hosts -> {
            hosts.network.inspectedBy(new Meddler());
            DatagramSocket sender = hosts.bind(hosts.here, 0);
            DatagramSocket receiver = hosts.bind(hosts.there, 7);
            hosts.sendAll(sender, hosts.numbered(4, BYTES, receiver.localAddress()));

            List<Integer> arrived = hosts.receiveAll(receiver, BYTES);
            assertEquals(List.of(0, 2, 2), arrived.stream().sorted().toList());
            assertEquals(List.of(3), hosts.receiveAll(receiver, BYTES));
        });
    }

    /** Loses the second, repeats the third and delays the fourth, by more than a second. */
    private static final class Meddler implements Inspector {
        @Override
        public long next(Passage passage, long from) {
            return Long.MAX_VALUE;
        }

        @Override
        public void sent(Passage passage) {}

        @Override
        public boolean awaits(Passage passage, Message message) {
            return false;
        }

        @Override
        public void begun(Passage passage, Message message) {}

        @Override
        public void sent(DatagramPassage passage, int number) {
            switch (number) {
                case 2 -> passage.lose();
                case 3 -> passage.repeat();
                case 4 -> passage.delay(SECOND_NS + SECOND_NS / 2);
                default -> {}
            }
        }
    }

    /** A train is one call of its sender, but not one datagram of the network. */
    @Test
    void shouldGiveEachDatagramOfATrainItsOwnFate() {
        run(1, HARMLESS, hosts -> {
            hosts.network.inspectedBy(new Meddler());
            DatagramSocket sender = hosts.bind(hosts.here, 0);
            DatagramSocket receiver = hosts.bind(hosts.there, 7);
            DatagramBatch numbered = hosts.numbered(4, BYTES, receiver.localAddress());
            DatagramBatch train = new DatagramBatch(1);
            train.addTrain(numbered.address(0), 4 * BYTES, BYTES, PeerAddress.of(receiver.localAddress()));
            hosts.sendAll(sender, train);

            List<Integer> arrived = hosts.receiveAll(receiver, BYTES);
            assertEquals(List.of(0, 2, 2), arrived.stream().sorted().toList());
            assertEquals(List.of(3), hosts.receiveAll(receiver, BYTES));
        });
    }

    @Test
    void shouldRefuseADatagramThatIsTooLongAndSendNoneOfItsBatch() {
        run(1, HARMLESS, hosts -> {
            DatagramSocket sender = hosts.bind(hosts.here, 0);
            DatagramSocket receiver = hosts.bind(hosts.there, 7);
            DatagramBatch batch = hosts.numbered(1, BYTES, receiver.localAddress());
            DatagramBatch both = new DatagramBatch(2);
            both.add(batch.address(0), BYTES, receiver.localAddress());
            both.add(batch.address(0), sender.maxBytes() + 1, receiver.localAddress());

            IllegalArgumentException refusal =
                    assertThrows(IllegalArgumentException.class, () -> sender.send(both, 0, 2));
            assertEquals("length=4097 > maxBytes=4096", refusal.getMessage());
            assertEquals(List.of(), hosts.receiveAll(receiver, BYTES));
        });
    }

    @Test
    void shouldDropWhatTheReceiverHasNoRoomFor() {
        run(1, HARMLESS.withBufferBytes(2 * 4096), hosts -> {
            DatagramSocket sender = hosts.bind(hosts.here, 0);
            DatagramSocket receiver = hosts.bind(hosts.there, 7);
            hosts.sendAll(sender, hosts.numbered(COUNT, 4096, receiver.localAddress()));
            hosts.scheduler.sleep(SECOND_NS);

            assertEquals(2, hosts.receive(receiver, 4096).size());
            assertEquals(COUNT - 2, receiver.dropped());
        });
    }

    @Test
    void shouldTakeWhatItHasRoomForAndSayWhenThereIsMore() {
        run(1, HARMLESS.withBufferBytes(2 * 4096), hosts -> {
            boolean[] writable = {false};
            FabricDatagramSocket sender = hosts.network.bind(
                    hosts.here, new InetSocketAddress(hosts.here, 0), hosts.open, room -> writable[0] |= room);
            DatagramSocket receiver = hosts.bind(hosts.there, 7);
            DatagramBatch batch = hosts.numbered(8, 4096, receiver.localAddress());

            int sent = sender.send(batch, 0, 8);
            assertTrue(sent >= 1 && sent <= 2, "sent " + sent);
            sent += sender.send(batch, 0, 1); // cuts may have taken one alone before
            sender.awaitRoom();
            assertTrue(hosts.scheduler.until(sender::hasEvent, SECOND_NS), "no room after " + sent);
            sender.raise();
            assertTrue(writable[0]);
            assertFalse(sender.hasEvent(), "an edge comes once");
        });
    }

    @Test
    void shouldSayWhatWasCutOff() {
        run(1, HARMLESS, hosts -> {
            DatagramSocket sender = hosts.bind(hosts.here, 9);
            DatagramSocket receiver = hosts.bind(hosts.there, 7);
            hosts.sendAll(sender, hosts.numbered(1, BYTES, receiver.localAddress()));
            hosts.scheduler.sleep(SECOND_NS);
            MemorySegment bytes = Arena.ofAuto().allocate(10);
            DatagramBatch batch = new DatagramBatch(1);
            batch.addBuffer(bytes.address(), 9);

            assertEquals(1, receiver.receive(batch));
            assertEquals(BYTES, batch.length(0));
            assertEquals(9, batch.room(0));
            assertEquals(sender.localAddress(), batch.peer(0).toSocketAddress());
            assertEquals(0, bytes.get(ValueLayout.JAVA_BYTE, 9));
        });
    }

    @Test
    void shouldLoseWhatMeetsACutOrNobody() {
        run(1, HARMLESS, hosts -> {
            DatagramSocket sender = hosts.bind(hosts.here, 0);
            DatagramSocket receiver = hosts.bind(hosts.there, 7);
            hosts.network.partition(hosts.here, hosts.there, SECOND_NS);
            hosts.sendAll(sender, hosts.numbered(COUNT, BYTES, receiver.localAddress()));
            hosts.scheduler.sleep(2 * SECOND_NS);
            assertEquals(List.of(), hosts.receive(receiver, BYTES));

            hosts.sendAll(sender, hosts.numbered(COUNT, BYTES, new InetSocketAddress(hosts.there, 8)));
            hosts.scheduler.sleep(SECOND_NS);
            assertEquals(List.of(), hosts.receive(receiver, BYTES));
        });
    }

    @Test
    void shouldCloseTheSocketsOfProcessesThatDie() {
        run(1, HARMLESS, hosts -> {
            DatagramSocket socket = hosts.bind(hosts.there, 7);
            assertThrows(ListenException.class, () -> hosts.bind(hosts.there, 7));
            assertEquals(1, hosts.open.count());
            hosts.network.processesDied(hosts.there);

            assertThrows(IOException.class, () -> socket.receive(new DatagramBatch(1)));
            assertEquals(0, hosts.open.count());
            hosts.bind(hosts.there, 7);
        });
    }

    /** A client that repeats its request until it is answered, and a server that answers each: on loops, by events. */
    private static final class Echo {
        final Hosts hosts;
        final InetSocketAddress server;
        int answered;
        private final MemorySegment memory = Arena.ofAuto().allocate(2 * Long.BYTES);

        Echo(Hosts hosts) {
            this.hosts = hosts;
            server = new InetSocketAddress(hosts.there, 7);
        }

        DatagramLoop loop(InetAddress host) {
            FabricTransport transport = new FabricTransport(
                    hosts.network,
                    host,
                    new Group(host.getHostAddress()),
                    "nic",
                    new FabricTransport.Options(1, 0, false, Group.Kind.LOOP));
            return (DatagramLoop) transport.loops().getFirst();
        }

        void serve(DatagramLoop loop) {
            DatagramSocket[] socket = new DatagramSocket[1];
            loop.execute(() -> io(() -> socket[0] = loop.bind(server, _ -> io(() -> answer(socket[0])))));
        }

        private void answer(DatagramSocket socket) throws IOException {
            DatagramBatch batch = buffer(0);
            while (socket.receive(batch) == 1) {
                DatagramBatch answer = new DatagramBatch(1);
                answer.add(memory.address(), Long.BYTES, batch.peer(0));
                socket.send(answer, 0, 1);
            }
        }

        void ask(DatagramLoop loop, int requests) {
            DatagramSocket[] socket = new DatagramSocket[1];
            loop.execute(() -> io(() -> {
                socket[0] = loop.bind(new InetSocketAddress(hosts.here, 0), _ -> io(() -> answered(socket[0])));
                again(loop, socket[0], requests);
            }));
        }

        private void again(DatagramLoop loop, DatagramSocket socket, int requests) throws IOException {
            if (answered < requests) {
                MemorySegment request = memory.asSlice(Long.BYTES);
                request.set(ValueLayout.JAVA_LONG, 0, answered);
                DatagramBatch batch = new DatagramBatch(1);
                batch.add(request.address(), Long.BYTES, server);
                socket.send(batch, 0, 1);
                loop.schedule(() -> io(() -> again(loop, socket, requests)), 1, TimeUnit.MILLISECONDS);
            }
        }

        private void answered(DatagramSocket socket) throws IOException {
            DatagramBatch batch = buffer(Long.BYTES);
            while (socket.receive(batch) == 1) {
                if (memory.get(ValueLayout.JAVA_LONG, Long.BYTES) == answered) {
                    answered++; // else it was answered before
                }
            }
        }

        private DatagramBatch buffer(long offset) {
            DatagramBatch batch = new DatagramBatch(1);
            batch.addBuffer(memory.address() + offset, Long.BYTES);
            return batch;
        }

        private interface Io {
            void run() throws IOException;
        }

        private static void io(Io body) {
            try {
                body.run();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    @Test
    void shouldRaiseEventsOnLoops() {
        DatagramSettings bad = new DatagramSettings(4096, 1 << 16, 200, 200, 200, SECOND_NS / 100);
        Set<Long> hashes = new HashSet<>();
        for (long seed = 0; seed < SEEDS; seed++) {
            hashes.add(run(seed, bad, hosts -> {
                Echo echo = new Echo(hosts);
                echo.serve(echo.loop(hosts.there));
                echo.ask(echo.loop(hosts.here), 20);
                assertTrue(
                        hosts.scheduler.until(() -> echo.answered == 20, 60 * SECOND_NS), "answers: " + echo.answered);
            }));
        }

        assertEquals(SEEDS, hashes.size());
    }
}
