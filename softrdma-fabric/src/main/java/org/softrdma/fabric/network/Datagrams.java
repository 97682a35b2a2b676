package org.softrdma.fabric.network;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.softrdma.fabric.scheduler.Scheduler;
import org.softrdma.fabric.scheduler.Source;
import org.softrdma.net.transport.ListenException;
import org.softrdma.net.transport.SocketEvents;
import org.softrdma.sim.roce.wire.PacketKind;

/**
 * Datagrams on their way between hosts, each on its own: they are lost, repeated and overtaken. One step delivers one
 * that is due. What meets a cut or a host that is gone is lost.
 */
final class Datagrams implements Source {
    private final Scheduler scheduler;
    private final Medium medium;
    private final Map<InetSocketAddress, FabricDatagramSocket> bound = new LinkedHashMap<>();
    private final Map<Path, Integer> sent = new HashMap<>();
    private final Map<PacketsOfPath, Integer> packets = new HashMap<>();
    private final List<Flight> flights = new ArrayList<>();
    private final List<Flight> due = new ArrayList<>();

    private record Path(InetAddress from, InetAddress to) {}

    private record PacketsOfPath(Path path, PacketKind kind) {}

    /** A copy of a datagram under way. */
    private record Flight(long dueNs, Datagram datagram, FabricDatagramSocket.UnderWay underWay) {}

    /** What happens to a datagram that is sent. */
    private static final class Fate implements Inspector.DatagramPassage {
        private final Path path;
        private final Optional<Inspector.Packet> packet;
        private boolean lost;
        private int copies = 1;
        private long delayNs;

        Fate(Path path, Optional<Inspector.Packet> packet) {
            this.path = path;
            this.packet = packet;
        }

        @Override
        public Optional<Inspector.Packet> packet() {
            return packet;
        }

        @Override
        public InetAddress from() {
            return path.from();
        }

        @Override
        public InetAddress to() {
            return path.to();
        }

        @Override
        public void lose() {
            lost = true;
        }

        @Override
        public void repeat() {
            copies++;
        }

        @Override
        public void delay(long ns) {
            delayNs += ns;
        }
    }

    /** None is under way. */
    Datagrams(Medium medium) {
        this.medium = medium;
        scheduler = medium.scheduler();
    }

    // ---- sockets

    /**
     * A socket of a host.
     *
     * @param place where it is
     * @param open counts it
     * @param events told of readiness
     */
    FabricDatagramSocket bind(FabricDatagramSocket.Place place, OpenCount open, SocketEvents events)
            throws ListenException {
        if (bound.containsKey(place.key())) {
            throw ListenException.of(ListenException.Reason.IN_USE, place.local());
        }
        FabricDatagramSocket socket = new FabricDatagramSocket(this, medium, place, open, events);
        bound.put(place.key(), socket);
        return socket;
    }

    /** Nobody receives here any more. */
    void closed(InetSocketAddress key) {
        bound.remove(key);
    }

    /** Closes the sockets of a host. */
    void processesDied(InetAddress host) {
        List.copyOf(bound.values()).stream()
                .filter(socket -> socket.key().getAddress().equals(host))
                .forEach(FabricDatagramSocket::close);
    }

    // ---- on the way

    /** A datagram leaves its host. */
    void send(Datagram datagram, FabricDatagramSocket.UnderWay underWay) {
        DatagramSettings settings = medium.settings().datagrams();
        Path path = new Path(datagram.from().getAddress(), datagram.to().getAddress());
        Fate fate = new Fate(path, packet(path, datagram));
        if (scheduler.choices().chance(settings.losses())) {
            fate.lose();
        } else if (scheduler.choices().chance(settings.repeats())) {
            fate.repeat();
        }
        medium.inspector().sent(fate, sent.merge(path, 1, Integer::sum));
        if (fate.lost) {
            scheduler.note("a datagram is lost", datagram.length());
            return;
        }
        for (int copy = 0; copy < fate.copies; copy++) {
            flights.add(new Flight(dueNs(settings) + fate.delayNs, datagram, underWay));
            underWay.departed(datagram.length());
        }
    }

    private Optional<Inspector.Packet> packet(Path path, Datagram datagram) {
        return PacketKind.of(datagram.bytes().address(), datagram.length())
                .map(kind -> new Inspector.Packet(kind, packets.merge(new PacketsOfPath(path, kind), 1, Integer::sum)));
    }

    private long dueNs(DatagramSettings settings) {
        NetworkSettings all = medium.settings();
        long latencyNs = scheduler.choices().between(all.leastLatencyNs(), all.mostLatencyNs());
        long delayNs = scheduler.choices().chance(settings.delays())
                ? scheduler.choices().between(0, settings.mostDelayNs())
                : 0;
        return scheduler.nanoTime() + latencyNs + delayNs;
    }

    @Override
    public long nextNs() {
        long next = NEVER;
        for (Flight flight : flights) {
            next = Math.min(next, flight.dueNs());
        }
        return next;
    }

    @Override
    public void step() {
        due.clear();
        for (Flight flight : flights) {
            if (flight.dueNs() <= scheduler.nanoTime()) {
                due.add(flight);
            }
        }
        if (!due.isEmpty()) {
            Flight next = due.get(scheduler.choices().below(due.size()));
            flights.remove(next);
            next.underWay().arrived(next.datagram().length());
            arrive(next.datagram());
        }
    }

    private void arrive(Datagram datagram) {
        InetSocketAddress to = datagram.to();
        InetAddress from = datagram.from().getAddress();
        FabricDatagramSocket receiver = bound.get(to);
        boolean open = medium.reachability().openAtNs(from, to.getAddress()) <= scheduler.nanoTime();
        boolean taken = open && receiver != null && receiver.arrived(datagram);
        scheduler.note(taken ? "a datagram arrives" : "a datagram is dropped", datagram.length());
    }
}
