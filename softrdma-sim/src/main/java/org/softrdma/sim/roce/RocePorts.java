package org.softrdma.sim.roce;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.net.transport.AddressText;
import org.softrdma.net.transport.DatagramLoop;
import org.softrdma.net.transport.ListenException;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.link.QueuePairNumbers;
import org.softrdma.sim.roce.wire.RocePacket;

/**
 * The ports of an engine: at most one for each address of this host. Where peers connect to this device, a port has the
 * UDP port of the settings; one that only connects gets by with any other, since software RNICs answer to where a packet
 * came from. SoftRoCE and cards answer to port 4791.
 */
final class RocePorts {
    private static final Logger LOG = LoggerFactory.getLogger(RocePorts.class);

    /** Free ports for those that only connect: below the ones that say nothing of where their owner hears. */
    private static final int FIRST_FREE = 0x8000;

    private static final int TRIALS = 256;
    /** Addresses for documentation, which nobody has (RFC 5737, RFC 3849): nothing is sent there. */
    private static final List<InetAddress> ELSEWHERE =
            List.of(InetAddress.ofLiteral("192.0.2.1"), InetAddress.ofLiteral("2001:db8::1"));

    /** IPv6, UDP, and the headers and ICRC of the longest packet. */
    private static final int HEADERS = 40 + 8 + RocePacket.MAX_LENGTH - RocePacket.MAX_TRANSFER_UNIT;

    private final RnicEngine engine;
    private final RoceSettings settings;
    private final RandomGenerator random;
    private final QueuePairNumbers numbers;
    private final RoceCounters counters = new RoceCounters();
    private final ArrayList<RocePort> ports = new ArrayList<>();
    private final ArrayList<RoceGroup> groups = new ArrayList<>();
    /** Addresses at which another process or device had the UDP port of the settings. */
    private final Set<InetAddress> taken = new HashSet<>();

    RocePorts(RnicEngine engine, RoceSettings settings, RandomGenerator random, QueuePairNumbers numbers) {
        this.engine = engine;
        this.settings = settings;
        this.random = random;
        this.numbers = numbers;
    }

    RnicEngine engine() {
        return engine;
    }

    RoceSettings settings() {
        return settings;
    }

    /** For what peers must not be able to guess. */
    RandomGenerator random() {
        return random;
    }

    /** Adds the counters to a snapshot. Any thread. */
    void addTo(Map<String, Long> snapshot) {
        counters.addTo(snapshot);
    }

    /**
     * The port at which peers find this device.
     *
     * @throws IOException if another process, or another device, has it
     */
    RocePort listening(InetAddress local) throws IOException {
        RocePort known = known(local);
        if (known != null) {
            return known;
        }
        try {
            return open(new InetSocketAddress(local, settings.port()));
        } catch (ListenException e) {
            String why = switch (e.reason()) {
                case IN_USE -> "another process or device, or SoftRoCE in the kernel, has this UDP port";
                case NOT_PERMITTED -> "UDP ports below 1024 need root or CAP_NET_BIND_SERVICE";
                default -> throw e;
            };
            throw ListenException.of(
                    e.reason(),
                    "cannot listen at " + AddressText.of(new InetSocketAddress(local, settings.port())) + ": " + why
                            + "; choose another by roce-port, here and at the peers",
                    e);
        }
    }

    /**
     * A port from which a peer can be reached.
     *
     * @param local address of this host towards the peer
     * @param remote address of the peer
     */
    RocePort towards(InetAddress local, InetAddress remote) throws IOException {
        RocePort known = known(local);
        if (known != null) {
            return known;
        }
        boolean here = local.equals(remote) || remote.isLoopbackAddress();
        return here ? anyAt(local) : named(local);
    }

    /**
     * A port that peers are told. SoftRoCE and cards find it only if it is where peers find this device, which it is
     * unless another process or device has that.
     *
     * @param local address of this host
     */
    RocePort named(InetAddress local) throws IOException {
        RocePort known = known(local);
        if (known != null) {
            return known;
        }
        if (taken.contains(local)) {
            return anyAt(local);
        }
        try {
            return open(new InetSocketAddress(local, settings.port())); // a card or SoftRoCE answers nowhere else
        } catch (ListenException e) {
            if (e.reason() != ListenException.Reason.IN_USE) {
                throw e;
            }
            taken.add(local);
            LOG.info(
                    "UDP port {} of {} is taken, so this device reaches other software RNICs only: SoftRoCE and cards"
                            + " answer to port 4791",
                    settings.port(),
                    local.getHostAddress());
            return anyAt(local);
        }
    }

    private RocePort anyAt(InetAddress local) throws IOException {
        for (RocePort port : ports) {
            if (isAt(port, local)) {
                return port;
            }
        }
        return openAnywhere(local);
    }

    /** The port where peers find this device at an address, if it is open. */
    private @Nullable RocePort known(InetAddress local) {
        for (RocePort port : ports) {
            if (isAt(port, local) && port.localAddress().getPort() == settings.port()) {
                return port;
            }
        }
        return null;
    }

    private RocePort openAnywhere(InetAddress local) throws IOException {
        for (int i = 1; ; i++) {
            int free = random.nextInt(FIRST_FREE, RocePort.FIRST_SPREADING_PORT);
            try {
                return open(new InetSocketAddress(local, free));
            } catch (ListenException e) {
                if (e.reason() != ListenException.Reason.IN_USE || i == TRIALS) {
                    throw e;
                }
            }
        }
    }

    /** True of an open port at an address. */
    static boolean isAt(RocePort port, InetAddress local) {
        InetAddress own = port.localAddress().getAddress();
        return !port.isClosed()
                && own.equals(local)
                && RocePath.scope(own) == RocePath.scope(local); // equal whatever their scopes are
    }

    /** Done once the peers of all ports know of the ends of their connections. Any thread. */
    CompletableFuture<Void> peersKnow() {
        CompletableFuture<Void> known = new CompletableFuture<>();
        engine.execute(() -> {
            CompletableFuture<?>[] each = ports.stream()
                    .filter(port -> !port.isClosed())
                    .map(RocePort::peersKnow)
                    .toArray(CompletableFuture[]::new);
            var _ = CompletableFuture.allOf(each).thenRun(() -> {
                boolean ignored = known.complete(null);
            });
        });
        return known;
    }

    /**
     * A multicast group, joined if nobody has.
     *
     * @param locals addresses of this host by whose interfaces
     * @throws IOException if it cannot be joined
     */
    RoceGroup group(InetAddress address, List<InetAddress> locals) throws IOException {
        groups.removeIf(RoceGroup::isClosed);
        for (RoceGroup each : groups) {
            if (each.address().equals(address)) {
                return each;
            }
        }
        groups.ensureCapacity(groups.size() + 1); // one that nobody knows would keep its socket
        RoceGroup joined = new RoceGroup(engine, counters.all(), address, locals);
        groups.add(joined);
        return joined;
    }

    private RocePort open(InetSocketAddress wanted) throws IOException {
        ports.ensureCapacity(ports.size() + 1); // a port that nobody knows would keep its socket
        RocePort opened = new RocePort(engine, random, numbers, counters, wanted);
        ports.add(opened);
        if (engine.loop().waits().isEmpty()) { // else this machine is a simulated one
            RoceAdvice.ofThisMachine()
                    .card(
                            opened.localAddress().getAddress(),
                            opened.localAddress().getPort())
                    .ifPresent(LOG::warn);
        }
        return opened;
    }

    /**
     * The address of queue pairs that no connection manager connects: that of the settings; else the one from which this
     * host would reach others; else the loopback interface's. Any thread.
     */
    InetAddress addressForOthers() {
        InetAddress chosen = settings.address();
        if (chosen != null) {
            return chosen;
        }
        for (InetAddress elsewhere : ELSEWHERE) {
            try {
                InetAddress own = localTo(new InetSocketAddress(elsewhere, RocePacket.UDP_PORT));
                if (!own.isAnyLocalAddress()) {
                    return own;
                }
            } catch (IOException e) {
                LOG.debug("no way to {}", elsewhere, e);
            }
        }
        return InetAddress.getLoopbackAddress();
    }

    /** The address of this host from which packets to a peer go. */
    InetAddress localTo(InetSocketAddress remote) throws IOException {
        if (engine.loop() instanceof DatagramLoop datagrams) {
            return datagrams.localTo(remote);
        }
        throw new IOException("this transport has no datagrams, so wire=roce cannot use it");
    }

    /** The largest transfer unit that the settings and the network at an address allow. */
    int transferUnit(InetAddress local) {
        int most = settings.transferUnit() == 0 ? RocePacket.MAX_TRANSFER_UNIT : settings.transferUnit();
        int unit = RoceSettings.LEAST_TRANSFER_UNIT;
        int room = engine.loop() instanceof DatagramLoop datagrams ? datagrams.networkUnit(local) - HEADERS : 0;
        while (unit < most && 2 * unit <= room) {
            unit *= 2;
        }
        return unit;
    }

    /** The addresses of this host that an address stands for: itself, or all if it is the wildcard. */
    static List<InetAddress> addresses(InetAddress local) throws IOException {
        if (!local.isAnyLocalAddress()) {
            return List.of(local);
        }
        boolean ipv6 = local instanceof Inet6Address;
        return NetworkInterface.networkInterfaces()
                .flatMap(NetworkInterface::inetAddresses)
                .filter(address -> ipv6 || !(address instanceof Inet6Address))
                .toList();
    }
}
