package org.softrdma.sim.roce;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.sim.memory.MemoryOperations;
import org.softrdma.sim.roce.cm.CmConnection;
import org.softrdma.sim.roce.cm.CmEvents;
import org.softrdma.sim.roce.cm.CmPeer;
import org.softrdma.sim.roce.cm.CmSettings;
import org.softrdma.sim.roce.cm.CommunicationManager;
import org.softrdma.sim.roce.wire.AddressHeader;
import org.softrdma.sim.roce.wire.Bth;
import org.softrdma.sim.roce.wire.CmEndpoint;
import org.softrdma.sim.roce.wire.CmPath;
import org.softrdma.sim.roce.wire.ConnectReply;
import org.softrdma.sim.roce.wire.ConnectRequest;
import org.softrdma.sim.roce.wire.Deth;
import org.softrdma.sim.roce.wire.Gid;
import org.softrdma.sim.roce.wire.Icrc;
import org.softrdma.sim.roce.wire.Mad;
import org.softrdma.sim.roce.wire.PrivateData;
import org.softrdma.sim.roce.wire.RoceOpcode;
import org.softrdma.sim.roce.wire.RocePacket;
import org.softrdma.sim.roce.wire.ServiceReply;

/**
 * A peer that is no device: it connects by the connection manager's messages and then sends what a test wants, each packet
 * with the ICRC that belongs to it. One test thread.
 */
final class RawRocePeer implements CmEvents, AutoCloseable {
    static final int QUEUE_PAIR = 0x123;
    /** With which the device begins. */
    static final int DEVICE_PSN = 0x100;

    private static final int BYTES = 1 << 16;

    final List<String> events = new ArrayList<>();
    /** Packets that it says it has room for. */
    int heldPackets;
    /** Packets that came for the queue pair. */
    final Deque<byte[]> arrived = new ArrayDeque<>();

    private final DatagramChannel channel;
    private final int ownPort;
    private final RocePath path;
    private final CmPeer device;
    private final Gid here;
    private final Gid there;
    private final Icrc icrc = new Icrc();
    private final PacketMemory out = new PacketMemory(new MemoryOperations(), BYTES);
    private final PacketMemory in = new PacketMemory(new MemoryOperations(), BYTES);
    private final MemorySegment outBytes = MemorySegment.ofBuffer(out.view());
    private final CommunicationManager manager;
    private @Nullable CmConnection connection;
    private @Nullable ConnectReply reply;

    /**
     * Knows a device.
     *
     * @param from address of this peer
     * @param to address and UDP port of the device
     * @param guid of this peer
     * @param seed seed of communication ids
     */
    RawRocePeer(InetSocketAddress from, InetSocketAddress to, long guid, int seed) throws IOException {
        channel = DatagramChannel.open().bind(from);
        channel.configureBlocking(false);
        here = Gid.of(from.getAddress());
        there = Gid.of(to.getAddress());
        device = new CmPeer(there, to.getPort());
        ownPort = ((InetSocketAddress) channel.getLocalAddress()).getPort();
        path = new RocePath(here, ownPort, device, 0);
        manager = new CommunicationManager(guid, new Random(seed), CmSettings.DEFAULT, this::sendMessage);
    }

    /** Its own UDP port. */
    int port() {
        return ownPort;
    }

    /** Asks for a connection to a service. */
    void connect(int servicePort) {
        CmEndpoint endpoint = new CmEndpoint(0, 0, QUEUE_PAIR, DEVICE_PSN, 4, 4, false, 7, false, heldPackets, false);
        AddressHeader header = new AddressHeader(50_000, here, there);
        connection = manager.connect(
                device,
                new ConnectRequest(
                        endpoint,
                        AddressHeader.serviceId(AddressHeader.PORT_SPACE_TCP, servicePort),
                        ConnectRequest.RELIABLE,
                        7,
                        Bth.DEFAULT_PARTITION,
                        Terms.code(1024),
                        16,
                        16,
                        15,
                        new CmPath(here, there, 0, 3, 0, 64, 16),
                        header.with(PrivateData.NONE)),
                this,
                System.nanoTime());
    }

    /** Answers questions for a service of datagrams with a status. */
    void answer(int servicePort, int status, PrivateData data) {
        boolean ignored = manager.listen(
                AddressHeader.serviceId(AddressHeader.PORT_SPACE_UDP, servicePort), (from, request, question) -> {
                    question.answer(
                            new ServiceReply(request.requestId(), status, QUEUE_PAIR, request.serviceId(), 5, data),
                            System.nanoTime());
                    return true;
                });
    }

    /** Loses all that comes until a message of the connection manager is among it. */
    void lose(int attribute) throws IOException {
        long endNs = System.nanoTime() + RoceEnds.DEADLINE_NS;
        for (boolean lost = false; !lost; Thread.onSpinWait()) {
            if (System.nanoTime() - endNs > 0) {
                throw new AssertionError("the message " + attribute + " did not come");
            }
            ByteBuffer view = in.view().clear();
            lost = channel.receive(view) != null
                    && Bth.destination(in.address()) == Mad.QUEUE_PAIR
                    && Mad.attribute(in.address() + RoceOpcode.headerLength(Bth.opcode(in.address()))) == attribute;
        }
    }

    /** Until an event has come. */
    void await(String event) {
        long endNs = System.nanoTime() + RoceEnds.DEADLINE_NS;
        while (!events.contains(event)) {
            if (System.nanoTime() - endNs > 0) {
                throw new AssertionError("expected " + event + ", but there were " + events);
            }
            poll();
            Thread.onSpinWait();
        }
    }

    /** Until the peer has accepted, or refused; true if it has accepted. */
    boolean awaitDecision() {
        long endNs = System.nanoTime() + RoceEnds.DEADLINE_NS;
        while (events.stream().noneMatch(event -> event.equals("replied") || event.startsWith("failed"))) {
            if (System.nanoTime() - endNs > 0) {
                throw new AssertionError("neither accepted nor refused, but " + events);
            }
            poll();
            Thread.onSpinWait();
        }
        return events.contains("replied");
    }

    /** The next packet for the queue pair. */
    byte[] next() {
        long endNs = System.nanoTime() + RoceEnds.DEADLINE_NS;
        while (arrived.isEmpty()) {
            if (System.nanoTime() - endNs > 0) {
                throw new AssertionError("no packet came");
            }
            poll();
            Thread.onSpinWait();
        }
        return arrived.removeFirst();
    }

    /** Number of the device's queue pair. */
    int deviceQueuePair() {
        return reply().endpoint().queuePair();
    }

    /** PSN with which this side begins. */
    int firstPsn() {
        return reply().endpoint().startingPsn();
    }

    /** What the device has answered. */
    ConnectReply reply() {
        ConnectReply current = reply;
        if (current == null) {
            throw new IllegalStateException("not connected");
        }
        return current;
    }

    /** Where a packet is written before {@link #send}. */
    long packet() {
        return out.address();
    }

    /** Sends the packet that was written. */
    void send(int length) {
        send(length, 0);
    }

    /** As {@link #send(int)}, with an ICRC that is wrong by some bits. */
    void send(int length, int damage) {
        if (length >= Bth.LENGTH + RocePacket.ICRC_LENGTH) {
            RocePacket.putIcrc(packet(), length, path.seal(icrc, out, packet(), length, 0) ^ damage);
        }
        try {
            ByteBuffer bytes = outBytes.asSlice(0, length).asByteBuffer();
            channel.send(bytes, path.peer().toSocketAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void sendMessage(CmPeer to, long mad) {
        int opcode = RoceOpcode.UD | RoceOpcode.SEND_ONLY;
        Bth.put(packet(), opcode, 0, Mad.LENGTH, Mad.QUEUE_PAIR, 0);
        Deth.put(packet(), Mad.QUEUE_KEY, Mad.QUEUE_PAIR);
        NativeMemory.copy(mad, packet() + RoceOpcode.headerLength(opcode), Mad.LENGTH);
        send(RocePacket.length(opcode, Mad.LENGTH));
    }

    /** Takes what has arrived, and does what is due. */
    void poll() {
        try {
            ByteBuffer view = in.view();
            view.clear();
            if (channel.receive(view) != null) {
                int length = view.position();
                if (Bth.destination(in.address()) == Mad.QUEUE_PAIR) {
                    int opcode = Bth.opcode(in.address());
                    manager.received(
                            device,
                            in.address() + RoceOpcode.headerLength(opcode),
                            RocePacket.payloadLength(in.address(), length),
                            System.nanoTime());
                } else {
                    byte[] bytes = new byte[length];
                    view.flip().get(bytes);
                    arrived.addLast(bytes);
                }
            }
            manager.expire(System.nanoTime());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void replied(ConnectReply newReply) {
        reply = newReply;
        events.add("replied");
        if (connection != null) {
            connection.ready();
        }
    }

    @Override
    public void established() {
        events.add("established");
    }

    @Override
    public void failed(int reason, PrivateData data) {
        events.add("failed " + reason);
    }

    @Override
    public void disconnected() {
        events.add("disconnected");
    }

    @Override
    public void released() {
        events.add("released");
    }

    /** Vanishes without a word. */
    @Override
    public void close() throws IOException {
        channel.close();
    }
}
