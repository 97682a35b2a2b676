package org.softrdma.sim.roce.cm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.function.Predicate;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.sim.roce.wire.CmEndpoint;
import org.softrdma.sim.roce.wire.CmPath;
import org.softrdma.sim.roce.wire.ConnectReply;
import org.softrdma.sim.roce.wire.ConnectRequest;
import org.softrdma.sim.roce.wire.Gid;
import org.softrdma.sim.roce.wire.Mad;
import org.softrdma.sim.roce.wire.PrivateData;

/** Two hosts with a connection manager each, a network between them, and a clock. */
final class CmHosts {
    static final long MS = 1_000_000;
    static final long SERVICE = 0x0106_1C06;
    static final CmPeer CLIENT = new CmPeer(new Gid(0, 0xFFFF_0A00_0001L), 4791);
    static final CmPeer SERVER = new CmPeer(new Gid(0, 0xFFFF_0A00_0002L), 4791);

    /** What the network does, in times of a thousand. */
    record Weather(int losses, int repeats, long mostLatencyNs) {
        static final Weather CALM = new Weather(0, 0, 0);
    }

    private final Random random;
    private final Weather weather;
    private final MemorySegment mad = Arena.ofAuto().allocate(Mad.LENGTH, Long.BYTES);
    private final PriorityQueue<Flight> flights = new PriorityQueue<>(
            Comparator.<Flight>comparingLong(flight -> flight.arrivesNs).thenComparingLong(flight -> flight.number));
    private final PriorityQueue<Plan> plans =
            new PriorityQueue<>(Comparator.comparingLong(Plan::atNs).thenComparingLong(Plan::number));
    /** Every message that was sent, in order. */
    final List<Sent> sent = new ArrayList<>();

    /** What is lost, beside the weather. */
    Predicate<Sent> lost = message -> false;

    final CommunicationManager client;
    CommunicationManager server;
    long now;
    private long number;

    private record Plan(long atNs, long number, Runnable action) {}

    /** A message: who sent it, when, and its attribute. */
    record Sent(CmPeer from, long atNs, int attribute, long transaction) {}

    @SuppressWarnings("ArrayRecordComponent") // looked into, never compared
    private record Flight(long arrivesNs, long number, CmPeer from, CmPeer to, byte[] bytes) {}

    CmHosts() {
        this(1, Weather.CALM, CmSettings.DEFAULT);
    }

    CmHosts(long seed, Weather weather, CmSettings settings) {
        random = new Random(seed);
        this.weather = weather;
        client = new CommunicationManager(0x1111, random, settings, (to, at) -> send(CLIENT, to, at));
        server = new CommunicationManager(0x2222, random, settings, (to, at) -> send(SERVER, to, at));
    }

    /** The server's process is started again. */
    void restartServer(long guid) {
        server = new CommunicationManager(guid, random, CmSettings.DEFAULT, (to, at) -> send(SERVER, to, at));
    }

    private void send(CmPeer from, CmPeer to, long at) {
        Sent message = new Sent(from, now, Mad.attribute(at), Mad.transaction(at));
        sent.add(message);
        if (lost.test(message) || random.nextInt(1000) < weather.losses) {
            return;
        }
        int copies = random.nextInt(1000) < weather.repeats ? 2 : 1;
        for (int i = 0; i < copies; i++) {
            long latency = weather.mostLatencyNs == 0 ? 0 : random.nextLong(weather.mostLatencyNs);
            flights.add(new Flight(now + latency, number++, from, to, NativeMemory.bytes(at, Mad.LENGTH)));
        }
    }

    /** Brings a message that a peer has made up. */
    void deliver(CmPeer from, CmPeer to, byte[] bytes) {
        NativeMemory.put(mad.address(), bytes);
        (to.equals(CLIENT) ? client : server).received(from, mad.address(), bytes.length, now);
    }

    /** Does something later. */
    void plan(long delayNs, Runnable action) {
        plans.add(new Plan(now + delayNs, number++, action));
    }

    /** Everything that happens until a time. */
    void runUntil(long timeNs) {
        while (step(timeNs)) {
            // on
        }
        now = timeNs;
    }

    void runFor(long ns) {
        runUntil(now + ns);
    }

    /** Everything that happens until nothing is left to happen. */
    void runOut() {
        while (step(Long.MAX_VALUE - 1)) {
            // on
        }
    }

    private boolean step(long untilNs) {
        long flight = flights.isEmpty() ? Long.MAX_VALUE : flights.peek().arrivesNs;
        long plan = plans.isEmpty() ? Long.MAX_VALUE : plans.peek().atNs;
        long timer = Math.min(client.nextNs(), server.nextNs());
        long next = Math.min(Math.min(flight, plan), timer);
        if (next > untilNs) {
            return false;
        }
        now = Math.max(now, next);
        if (next == flight) {
            Flight arrived = flights.remove();
            deliver(arrived.from, arrived.to, arrived.bytes);
        } else if (next == plan) {
            plans.remove().action().run();
        } else {
            client.expire(now);
            server.expire(now);
        }
        return true;
    }

    long count(CmPeer from, int attribute) {
        return sent.stream()
                .filter(message -> message.from.equals(from) && message.attribute == attribute)
                .count();
    }

    List<Long> times(CmPeer from, int attribute) {
        return sent.stream()
                .filter(message -> message.from.equals(from) && message.attribute == attribute)
                .map(Sent::atNs)
                .toList();
    }

    // ---- messages

    static CmEndpoint endpoint(int queuePair) {
        return new CmEndpoint(0, 0, queuePair, 77, 16, 16, false, 7, false, 0, false);
    }

    static ConnectRequest request(int queuePair, long service, String text) {
        return new ConnectRequest(
                endpoint(queuePair),
                service,
                ConnectRequest.RELIABLE,
                7,
                0xFFFF,
                3,
                20,
                20,
                15,
                new CmPath(CLIENT.address(), SERVER.address(), 0, 3, 0, 64, 14),
                data(text));
    }

    static PrivateData data(String text) {
        return PrivateData.of(text.getBytes(java.nio.charset.StandardCharsets.US_ASCII));
    }

    /** The text, without the zeroes behind it. */
    static String text(PrivateData data) {
        return new String(data.bytes(), java.nio.charset.StandardCharsets.US_ASCII).replace("\0", "");
    }

    /** What an owner was told, in words. */
    static final class Told implements CmEvents {
        final List<String> events = new ArrayList<>();
        /** Called in the middle of the event. */
        Runnable onReply = () -> {};

        Runnable onEstablished = () -> {};
        Optional<ConnectReply> reply = Optional.empty();

        @Override
        public void replied(ConnectReply newReply) {
            events.add("replied");
            reply = Optional.of(newReply);
            onReply.run();
        }

        @Override
        public void established() {
            events.add("established");
            onEstablished.run();
        }

        @Override
        public void failed(int reason, PrivateData data) {
            events.add("failed " + reason + " " + text(data));
        }

        @Override
        public void disconnected() {
            events.add("disconnected");
        }

        @Override
        public void released() {
            events.add("released");
        }
    }
}
