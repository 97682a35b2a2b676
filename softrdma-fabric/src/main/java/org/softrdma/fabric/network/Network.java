package org.softrdma.fabric.network;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.softrdma.fabric.scheduler.Scheduler;
import org.softrdma.fabric.scheduler.Source;
import org.softrdma.net.transport.ListenException;
import org.softrdma.net.transport.SocketEvents;

/**
 * The hosts and what is on its way between them. One step delivers one thing that is due: a piece of a stream, its end,
 * a reset, a request to connect, or the answer.
 */
public final class Network implements Source {
    private static final int FIRST_FREE_PORT = 49_152;

    private final Scheduler scheduler;
    private final NetworkSettings settings;
    private final Copier copier;
    private final Map<InetSocketAddress, FabricAcceptor> listening = new LinkedHashMap<>();
    private final Map<InetAddress, Integer> lastPorts = new LinkedHashMap<>();
    private final Map<Set<InetAddress>, Integer> connections = new HashMap<>();
    private final Map<InetAddress, Impairment.Pace> paces = new HashMap<>();
    private final List<Direction> directions = new ArrayList<>();
    private final List<Arrival> arrivals = new ArrayList<>();
    private final List<Runnable> due = new ArrayList<>();
    private final List<FabricSocket> sockets = new ArrayList<>();
    private final Reachability reachability;
    private Inspector inspector = Inspector.NONE;
    private @Nullable Datagrams datagrams;

    /** Something that is not bytes. */
    private record Arrival(long dueNs, InetAddress from, InetAddress to, Runnable what) {}

    /**
     * A network without hosts.
     *
     * @param scheduler of the simulation
     * @param settings what it does to what it carries
     * @param copier how bytes get in and out
     */
    public Network(Scheduler scheduler, NetworkSettings settings, Copier copier) {
        this.scheduler = scheduler;
        this.settings = settings;
        this.copier = copier;
        reachability = new Reachability(scheduler);
    }

    Scheduler scheduler() {
        return scheduler;
    }

    /** Bytes of the longest datagram. */
    int largestDatagram() {
        return settings.datagrams().maxBytes();
    }

    /** True if the sockets of devices do as those of io_uring. */
    public boolean hasRing() {
        return settings.ring();
    }

    private Medium medium() {
        return new Medium(scheduler, settings, copier, reachability, inspector);
    }

    /** Somebody sees what is sent by the connections to come. Before the run. */
    public void inspectedBy(Inspector newInspector) {
        inspector = newInspector;
    }

    /** A host appears; until then nobody reaches its address. */
    public void host(InetAddress address) {
        lastPorts.put(address, FIRST_FREE_PORT - 1);
    }

    // ---- listening

    FabricAcceptor listen(InetAddress host, InetSocketAddress local, FabricAcceptor.Settings wanted)
            throws IOException {
        InetAddress address = local.getAddress();
        if (!isOf(host, address)) {
            throw ListenException.of(ListenException.Reason.NOT_HERE, local);
        }
        int port = local.getPort() == 0 ? freePort(host) : local.getPort();
        InetSocketAddress key = new InetSocketAddress(host, port);
        if (listening.containsKey(key)) {
            throw ListenException.of(ListenException.Reason.IN_USE, local);
        }
        FabricAcceptor acceptor = new FabricAcceptor(key, new InetSocketAddress(address, port), wanted);
        listening.put(key, acceptor);
        return acceptor;
    }

    FabricDatagramSocket bind(InetAddress host, InetSocketAddress local, OpenCount open, SocketEvents events)
            throws IOException {
        InetAddress address = local.getAddress();
        if (!isOf(host, address)) {
            throw ListenException.of(ListenException.Reason.NOT_HERE, local);
        }
        int port = local.getPort() == 0 ? freePort(host) : local.getPort();
        FabricDatagramSocket.Place place =
                new FabricDatagramSocket.Place(new InetSocketAddress(host, port), new InetSocketAddress(address, port));
        return datagrams().bind(place, open, events);
    }

    private Datagrams datagrams() {
        Datagrams current = datagrams;
        if (current == null) {
            current = new Datagrams(medium());
            datagrams = current;
            scheduler.add(current);
        }
        return current;
    }

    void closed(FabricAcceptor acceptor) {
        listening.remove(acceptor.key());
    }

    private static boolean isOf(InetAddress host, InetAddress address) {
        return address.equals(host) || address.isAnyLocalAddress() || address.isLoopbackAddress();
    }

    private int freePort(InetAddress host) {
        Integer last = lastPorts.get(host);
        if (last == null) {
            throw new IllegalStateException("no host " + host);
        }
        lastPorts.put(host, last + 1);
        return last + 1;
    }

    // ---- connecting

    FabricSocket connect(InetAddress host, InetSocketAddress remote, OpenCount open) throws IOException {
        InetAddress target = remote.getAddress().isLoopbackAddress() ? host : remote.getAddress();
        if (!lastPorts.containsKey(target)) {
            throw new NoRouteToHostException("No route to host");
        }
        InetSocketAddress local = new InetSocketAddress(host, freePort(host));
        int connection = connections.merge(host.equals(target) ? Set.of(host) : Set.of(host, target), 1, Integer::sum);
        Direction there = direction(new Direction.Path(host, target, connection));
        Direction back = direction(new Direction.Path(target, host, connection));
        FabricSocket socket = new FabricSocket(medium(), open, local, remote, back, there, false);
        sockets.add(socket);
        InetSocketAddress key = new InetSocketAddress(target, remote.getPort());
        later(host, target, () -> requestArrives(socket, key, there, back));
        return socket;
    }

    private void requestArrives(FabricSocket from, InetSocketAddress to, Direction there, Direction back) {
        InetAddress host = from.localAddress().getAddress();
        FabricAcceptor acceptor = listening.get(to);
        if (acceptor == null || acceptor.isFull()) {
            later(to.getAddress(), host, () -> from.refused("Connection refused"));
            return;
        }
        FabricSocket socket = new FabricSocket(
                medium(),
                acceptor.openCount(),
                new InetSocketAddress(to.getAddress(), to.getPort()),
                from.localAddress(),
                there,
                back,
                true);
        sockets.add(socket);
        socket.peer(from);
        from.peer(socket);
        acceptor.arrived(socket);
        later(to.getAddress(), host, from::connected);
    }

    private Direction direction(Direction.Path path) {
        Direction direction = new Direction(medium(), path);
        direction.pace(paces.getOrDefault(path.to(), Impairment.Pace.FREE));
        directions.add(direction);
        return direction;
    }

    // ---- time

    private void later(InetAddress from, InetAddress to, Runnable what) {
        long latencyNs = scheduler.choices().between(settings.leastLatencyNs(), settings.mostLatencyNs());
        arrivals.add(new Arrival(scheduler.nanoTime() + latencyNs, from, to, what));
    }

    private long dueNs(Arrival arrival) {
        return Math.max(arrival.dueNs(), reachability.openAtNs(arrival.from(), arrival.to()));
    }

    @Override
    public long nextNs() {
        long next = NEVER;
        for (Arrival arrival : arrivals) {
            next = Math.min(next, dueNs(arrival));
        }
        for (Direction direction : directions) {
            next = Math.min(next, direction.nextNs());
        }
        return next;
    }

    @Override
    public void step() {
        long nowNs = scheduler.nanoTime();
        due.clear();
        for (Arrival arrival : arrivals) {
            if (dueNs(arrival) <= nowNs) {
                due.add(() -> {
                    arrivals.remove(arrival);
                    scheduler.note("a request or answer to connect arrives", 0);
                    arrival.what().run();
                });
            }
        }
        for (Direction direction : directions) {
            if (direction.nextNs() <= nowNs) {
                due.add(direction::step);
            }
        }
        if (!due.isEmpty()) {
            due.get(scheduler.choices().below(due.size())).run();
        }
        directions.removeIf(Direction::isOver);
        sockets.removeIf(FabricSocket::isClosed);
    }

    // ---- faults

    /** Nothing gets from one host to another, in either direction, for a time; what is sent meanwhile arrives later. */
    public void partition(InetAddress one, InetAddress other, long durationNs) {
        scheduler.note("hosts are parted", durationNs);
        reachability.cut(one, other, scheduler.nanoTime() + durationNs);
        reachability.cut(other, one, scheduler.nanoTime() + durationNs);
    }

    /** True unless a cut or a loss of power keeps what one host sends from another now. */
    public boolean reaches(InetAddress from, InetAddress to) {
        return reachability.openAtNs(from, to) <= scheduler.nanoTime();
    }

    /** Ends all cuts. */
    public void heal() {
        scheduler.note("cuts end", 0);
        reachability.heal();
    }

    /** The processes of a host have died: its kernel closes what they had. */
    public void processesDied(InetAddress host) {
        scheduler.note("processes died", 0);
        List.copyOf(listening.values()).stream()
                .filter(acceptor -> acceptor.key().getAddress().equals(host))
                .forEach(FabricAcceptor::close);
        List.copyOf(sockets).stream()
                .filter(socket -> socket.localAddress().getAddress().equals(host))
                .forEach(FabricSocket::close);
        Datagrams current = datagrams;
        if (current != null) {
            current.processesDied(host);
        }
    }

    /** A host is gone: nobody answers for it. */
    public void vanished(InetAddress host) {
        scheduler.note("host is gone", 0);
        reachability.vanish(host);
    }

    /** A host takes at most so many bytes of a connection in a piece, and no piece sooner after the one before. */
    public void slow(InetAddress host, int bytes, long perNs) {
        scheduler.note("a host reads slowly", bytes);
        Impairment.Pace pace = new Impairment.Pace(bytes, perNs);
        paces.put(host, pace);
        directions.stream().filter(direction -> direction.to().equals(host)).forEach(direction -> direction.pace(pace));
    }

    /** Every connection between two hosts is reset. */
    public void reset(InetAddress one, InetAddress other) {
        scheduler.note("connections are reset", 0);
        List.copyOf(sockets).stream()
                .filter(socket -> socket.localAddress().getAddress().equals(one)
                        && socket.remoteAddress().getAddress().equals(other))
                .forEach(FabricSocket::resetByNetwork);
    }
}
