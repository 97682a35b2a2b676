package org.softrdma.run.card;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.DatagramChannel;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.softrdma.run.device.GidEntry;
import org.softrdma.run.device.RxeDevice;
import org.softrdma.run.faults.CardFaults;
import org.softrdma.run.faults.FaultyTransport;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.ErrorNumber;
import org.softrdma.sim.SoftRdmaContext;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.sim.device.SoftRdmaDevice;
import org.softrdma.sim.memory.ForeignMemory;
import org.softrdma.sim.memory.ForeignProcess;
import org.softrdma.sim.roce.cm.CmPort;
import org.softrdma.sim.roce.wire.NumberedPort;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.AsyncEvent;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.MemoryWindow;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairType;
import org.softrdma.verbs.UnconnectedQueuePair;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/**
 * The RNIC of a run, opened when a program makes its first object. It has UDP port 4791 if that is free at all addresses; else the next of
 * the {@link NumberedPort}s, which its queue pairs' numbers name, so that peers that know a GID and a number find it.
 */
public final class Card {
    private static final System.Logger LOG = System.getLogger(Card.class.getName());
    private static final long LONGEST_WAIT_NS = 1_000_000_000;
    /** How often RECVs are looked for that programs have posted to queue pairs in ERROR. */
    private static final long FLUSH_NS = 5_000_000;

    /** There and back, with some room: whoever has posted waits. */
    private static final int MOST_TURNS = 16;

    /** 24 bits of their keys tell them from each other. */
    private static final int MOST_WINDOWS = 1 << 24;

    private final RxeDevice shown;
    private final int calls;
    private final CardSettings settings;
    private final IdentityHashMap<QueuePair, CardPair> pairs = new IdentityHashMap<>();
    private boolean mayBeInError;
    private final BiConsumer<QueuePair, CardPair> flush = this::flush;
    private long flushedNs = System.nanoTime();
    private final Map<Integer, CardWindow> windows = new HashMap<>();
    private final SecureRandom secrets = new SecureRandom();
    private boolean callWaits;
    private boolean contextEnds;
    private int udpPort;
    private final Map<Integer, ForeignProcess> processes = new HashMap<>();
    private final PeerPorts peers = new PeerPorts();
    private @Nullable SoftRdmaDevice device;

    /**
     * A card that is not open yet.
     *
     * @param shown what programs see of it
     * @param calls a descriptor that can be read while a program waits for the answer to a call
     */
    public Card(RxeDevice shown, int calls, CardSettings settings) {
        this.shown = shown;
        this.calls = calls;
        this.settings = settings;
    }

    /** What goes wrong with it. */
    public CardFaults faults() {
        return settings.faults();
    }

    /** A new protection domain. */
    public ProtectionDomain allocateDomain() throws CallRefusedException {
        SoftRdmaDevice opened = device();
        return CardErrors.of(opened::allocateProtectionDomain);
    }

    /**
     * Registers memory of a program.
     *
     * @param process its number
     * @param start where it begins for requests
     */
    public MemoryRegion register(
            ProtectionDomain domain, int process, long address, long length, long start, Set<AccessFlag> access)
            throws CallRefusedException {
        SoftRdmaDevice opened = device();
        ForeignProcess owner = processes.computeIfAbsent(process, ForeignProcess::new);
        return CardErrors.of(() -> opened.register(domain, new ForeignMemory(owner, address, length), start, access));
    }

    /**
     * An address handle.
     *
     * @param local address of this host that datagrams leave
     * @param remote host that they go to
     */
    public CardAddress createAddress(ProtectionDomain domain, InetAddress local, InetAddress remote)
            throws CallRefusedException {
        return new CardAddress(device(), domain, local, remote);
    }

    /** Takes a region away. One that windows are bound to is refused, as SoftRoCE does (IBA 10.6.7.2.6). */
    public static void deregister(MemoryRegion region) throws CallRefusedException {
        try {
            CardErrors.of(region::close);
        } catch (CallRefusedException e) {
            throw e.errno() == ErrorNumber.EBUSY ? new CallRefusedException(ErrorNumber.EINVAL) : e;
        }
    }

    /**
     * A memory window that is not bound.
     *
     * @param shared all queue pairs of the domain can use it: type 1
     */
    public CardWindow allocateWindow(ProtectionDomain domain, boolean shared) throws CallRefusedException {
        SoftRdmaDevice opened = device();
        MemoryWindow window =
                CardErrors.of(() -> shared ? opened.allocateSharedWindow(domain) : domain.allocateWindow());
        int index = secrets.nextInt(1, MOST_WINDOWS);
        while (windows.containsKey(index)) {
            index = secrets.nextInt(1, MOST_WINDOWS);
        }
        int taken = index;
        CardWindow made = new CardWindow(opened, window, index << Byte.SIZE, () -> windows.remove(taken));
        windows.put(index, made);
        return made;
    }

    private @Nullable CardWindow window(int key) {
        return windows.get(CardWindow.index(key));
    }

    /** A queue pair in RESET. */
    public CardPair createPair(CardPair.Parts parts) throws CallRefusedException {
        SoftRdmaDevice opened = device();
        CardPair made = new CardPair(
                new CardPair.Environment(
                        this::work, pairs::remove, this::window, this::addressesLike, settings.faults()),
                opened,
                parts);
        if (parts.type() == QueuePairType.UNRELIABLE_DATAGRAM) {
            hearEverywhere(opened, made.pair());
        }
        pairs.put(made.pair(), made);
        return made;
    }

    /** Datagrams may come to any GID of the table. At an address where the UDP port is another's, none can. */
    private void hearEverywhere(SoftRdmaDevice opened, UnconnectedQueuePair pair) {
        for (GidEntry each : shown.gids()) {
            try {
                opened.alsoUseAddress(pair, each.address());
            } catch (VerbsException e) {
                LOG.log(Level.DEBUG, "no datagrams at " + each.text(), e);
            }
        }
    }

    /** Addresses of the GIDs of one family. */
    private List<InetAddress> addressesLike(InetAddress address) {
        return shown.gids().stream()
                .map(GidEntry::address)
                .filter(each -> each.getClass() == address.getClass())
                .toList();
    }

    /** Where peers' queue pairs are. */
    public PeerPorts peers() {
        return peers;
    }

    /**
     * The connection manager at an address of this host.
     *
     * @throws CallRefusedException if this card's UDP port is another's there: peers would not find it
     */
    public CmPort managerAt(InetAddress local) throws CallRefusedException {
        SoftRdmaDevice opened = device();
        CmPort found = CardErrors.of(() -> opened.connectionManager(local));
        if (found.localAddress().getPort() != udpPort) {
            throw new CallRefusedException(ErrorNumber.EADDRNOTAVAIL);
        }
        return found;
    }

    /**
     * Processes that have no region any more are forgotten: their numbers may become others'.
     *
     * @param used those that have some
     */
    public void forgetProcesses(Set<Integer> used) {
        processes.keySet().retainAll(used);
    }

    private SoftRdmaDevice device() throws CallRefusedException {
        SoftRdmaDevice opened = device;
        if (opened == null) {
            opened = open();
            var _ = opened.watch(calls, () -> callWaits = true);
            device = opened;
        }
        return opened;
    }

    /**
     * Waits until a program calls, or closes the pipe of its context's events; the card works meanwhile. One that is not open has
     * nothing to do.
     *
     * @return true for a call
     */
    public boolean awaitCall() {
        SoftRdmaDevice opened = device;
        if (opened == null) {
            return true;
        }
        callWaits = false;
        contextEnds = false;
        mayBeInError = true; // by the call that was answered
        tellEvents(opened);
        while (!callWaits && !contextEnds) {
            settings.faults().runDue();
            mayBeInError |= opened.progress(settings.faults().waitNs(mayBeInError ? FLUSH_NS : LONGEST_WAIT_NS)) > 0;
            tellEvents(opened);
            flushReceives();
        }
        return callWaits;
    }

    private void flushReceives() {
        if (mayBeInError) {
            long nowNs = System.nanoTime();
            if (nowNs - flushedNs >= FLUSH_NS) {
                flushedNs = nowNs;
                mayBeInError = false;
                pairs.forEach(flush);
            }
        }
    }

    private void flush(QueuePair ignored, CardPair pair) {
        mayBeInError |= pair.flushReceives();
    }

    /** Tells programs what has happened to their queue pairs. */
    private void tellEvents(SoftRdmaDevice opened) {
        for (Optional<AsyncEvent> next = opened.pollEvent(); next.isPresent(); next = opened.pollEvent()) {
            if (next.get() instanceof AsyncEvent.QueuePairEvent event) {
                CardPair pair = pairs.get(event.queuePair());
                if (pair != null) {
                    pair.tell(event.kind());
                }
            }
        }
    }

    /**
     * {@link #awaitCall} returns when nobody reads a pipe any more.
     *
     * @param writingEnd of a context's asynchronous events
     * @return ends that, before the pipe is closed
     */
    public Runnable watch(int writingEnd) throws CallRefusedException {
        SoftRdmaDevice opened = device();
        return CardErrors.of(() -> opened.watch(writingEnd, () -> contextEnds = true));
    }

    /** What was posted goes on its way, and what comes at once is taken in, before the program that has posted it goes on. */
    private void work() {
        SoftRdmaDevice opened = device;
        callWaits = false;
        for (int i = 0; opened != null && !callWaits && i < MOST_TURNS && opened.progress(0) > 0; i++) {
            Thread.onSpinWait();
        }
        settings.faults().runDue();
    }

    private SoftRdmaDevice open() throws CallRefusedException {
        List<InetAddress> addresses = new ArrayList<>();
        for (GidEntry each : shown.gids()) {
            if (!each.address().isLinkLocalAddress() && isFree(each.address(), /* port= */ 0)) {
                addresses.add(each.address()); // others are not up
            }
        }
        for (int i = 0; i <= NumberedPort.COUNT; i++) {
            int port = NumberedPort.at(i);
            if (isFree(shown.ownAddress(), port)) {
                SoftRdmaDevice opened = opened(shown.ownAddress(), port);
                boolean taken = false;
                try {
                    taken = takePort(opened, addresses, port);
                } finally {
                    if (!taken) {
                        opened.close();
                    }
                }
                if (taken) {
                    udpPort = port;
                    return opened;
                }
            }
        }
        throw new CallRefusedException(ErrorNumber.EADDRNOTAVAIL);
    }

    private SoftRdmaDevice opened(InetAddress address, int port) throws CallRefusedException {
        try {
            return open(address, port);
        } catch (RuntimeException e) {
            LOG.log(
                    Level.ERROR,
                    "no card at " + address.getHostAddress() + ", UDP port " + port + ": " + e.getMessage());
            throw new CallRefusedException(ErrorNumber.ENODEV);
        }
    }

    private SoftRdmaDevice open(InetAddress address, int port) {
        SoftRdmaContext context = new SoftRdmaContext()
                .set(Map.of(
                        "wire",
                        "roce",
                        "roce-address",
                        address.getHostAddress(),
                        "roce-port",
                        Integer.toString(port),
                        "progress",
                        "manual",
                        "transport",
                        "epoll"));
        settings.capture().ifPresent(file -> context.set(Map.of("pcap", file.toString())));
        return (SoftRdmaDevice) new SoftRdmaProvider()
                .open(
                        context.conclude(),
                        network -> faults().isNone() ? network : new FaultyTransport(network, faults()));
    }

    /** Not for sure: another run may take it meanwhile. A device that finds its port taken logs that, which nobody needs to read. */
    private static boolean isFree(InetAddress address, int port) throws CallRefusedException {
        try (DatagramChannel channel = DatagramChannel.open()) {
            return channel.bind(new InetSocketAddress(address, port)).isOpen();
        } catch (BindException e) {
            return false;
        } catch (IOException e) {
            throw new CallRefusedException(ErrorNumber.EADDRNOTAVAIL);
        }
    }

    /**
     * Takes a port at all addresses, because peers know one port for all, and whether programs will use them or not: what is not
     * taken, another run may take at any moment.
     *
     * @return false if another device has it at one of them
     */
    private static boolean takePort(SoftRdmaDevice opened, List<InetAddress> addresses, int port)
            throws CallRefusedException {
        return CardErrors.of(() -> {
            try (ProtectionDomain domain = opened.allocateProtectionDomain();
                    CompletionQueue completions = opened.createCompletionQueue(1);
                    UnconnectedQueuePair first =
                            domain.createQueuePair(QueuePairAttributes.of(completions, QueuePairLimits.of(1, 1))
                                    .withDatagrams(0))) {
                first.reset();
                addresses.forEach(each -> opened.alsoUseAddress(first, each));
                return first.address().host().getPort() == port;
            } catch (VerbsException e) {
                if (e.code() == VerbsErrorCode.ADDRESS_IN_USE) {
                    return false;
                }
                throw e;
            }
        });
    }

    /** Takes it away; no program has anything of it any more. */
    public void close() {
        SoftRdmaDevice opened = device;
        if (opened != null) {
            settings.counters().accept(opened.counters());
            opened.close();
            device = null;
        }
    }
}
