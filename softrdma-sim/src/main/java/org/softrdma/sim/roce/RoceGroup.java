package org.softrdma.sim.roce;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.softrdma.net.transport.DatagramLoop;
import org.softrdma.net.transport.DatagramSocket;
import org.softrdma.net.transport.FaultLog;
import org.softrdma.net.transport.LoopGuard;
import org.softrdma.net.transport.PeerAddress;
import org.softrdma.net.transport.SocketEvents;
import org.softrdma.sim.engine.Counter;
import org.softrdma.sim.engine.Counters;
import org.softrdma.sim.engine.DrivenConnection;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.roce.wire.Bth;
import org.softrdma.sim.roce.wire.Icrc;
import org.softrdma.sim.roce.wire.RoceOpcode;
import org.softrdma.sim.roce.wire.RocePacket;

/**
 * A multicast group that queue pairs of this device have joined (annex A17): a socket of its own, which hears at port 4791
 * beside those of other devices. Each of its datagrams is for all of them. They send by their own ports.
 */
final class RoceGroup implements SocketEvents, DrivenConnection {
    private static final Logger LOG = LoggerFactory.getLogger(RoceGroup.class);
    private static final int BUFFERS = 4;

    private final RnicEngine engine;
    private final Counters<RoceCounter> counters;
    private final InetAddress address;
    private final DatagramSocket socket;
    private final PacketReceiver receiver;
    private final List<PortQueuePair> members = new ArrayList<>();
    private final Runnable rearming;
    private boolean closed;

    /**
     * Joins it.
     *
     * @param engine that drives it
     * @param counters of the engine's ports
     * @param address of the group
     * @param locals addresses of this host by whose interfaces it is joined
     * @throws IOException if it cannot be joined
     */
    RoceGroup(RnicEngine engine, Counters<RoceCounter> counters, InetAddress address, List<InetAddress> locals)
            throws IOException {
        this.engine = engine;
        this.counters = counters;
        this.address = address;
        if (!(engine.loop() instanceof DatagramLoop datagrams)) {
            throw new IOException("this transport has no datagrams, so wire=roce cannot use it");
        }
        InetSocketAddress group = new InetSocketAddress(address, RocePacket.UDP_PORT);
        receiver = new PacketReceiver(engine, counters, new Icrc(), BUFFERS, group, this::take);
        socket = datagrams.join(group, locals, this);
        try {
            rearming = socket::rearm;
            engine.connections().opened(this);
        } catch (RuntimeException | Error e) {
            socket.close();
            throw e;
        }
    }

    /** Its address. */
    InetAddress address() {
        return address;
    }

    /** True once nobody has it. */
    boolean isClosed() {
        return closed;
    }

    /** A queue pair takes what comes to it. */
    void add(PortQueuePair member) {
        members.add(member);
    }

    /** A queue pair takes it no more; the last one closes it. */
    void remove(PortQueuePair member) {
        if (members.remove(member) && members.isEmpty()) {
            end("nobody has it");
        }
    }

    @Override
    public void ready(boolean writable) {
        if (closed) {
            return;
        }
        engine.epoch().enter();
        try {
            receive();
        } catch (IOException e) {
            FaultLog.tell(LOG, Level.ERROR, "a multicast group of RoCE hears nothing more", e);
            end("its socket has failed");
        } catch (RuntimeException | Error e) { // what has come is lost, as the network loses datagrams
            engine.counters().increment(Counter.ENGINE_FAULTS);
            FaultLog.tell(LOG, Level.ERROR, "engine fault while receiving datagrams of a multicast group", e);
            LoopGuard.pause();
            LoopGuard.insist(rearming);
        } finally {
            engine.epoch().exit();
        }
        for (int i = members.size() - 1; i >= 0; i--) {
            members.get(i).turn();
        }
    }

    private void receive() throws IOException {
        if (receiver.receive(socket)) {
            socket.rearm();
        }
    }

    private void take(long packet, int length, int place, PeerAddress from) {
        if (Bth.destination(packet) != RocePacket.GROUP_QUEUE_PAIR) {
            counters.increment(RoceCounter.UNKNOWN_QUEUE_PAIR);
        } else if ((Bth.opcode(packet) & RoceOpcode.TRANSPORT_MASK) != RoceOpcode.UD) {
            counters.increment(RoceCounter.WRONG_TRANSPORT);
        } else if (receiver.isIntact(packet, length, place, from)) {
            for (int i = members.size() - 1; i >= 0; i--) { // one that ends takes itself out
                members.get(i).received(receiver.arrival(), packet, length, receiver.receivedNs());
            }
        }
    }

    // ---- the end

    @Override
    public void end(String reason) {
        if (!closed) {
            closed = true;
            members.clear();
            engine.connections().closed(this);
            socket.close();
        }
    }

    @Override
    public void abort() {
        end("aborted");
    }

    @Override
    public void doorbell() {
        // Nothing is sent.
    }

    @Override
    public void attempt() {
        ready(false);
    }

    @Override
    public void retryReceive() {
        ready(false);
    }

    @Override
    public boolean isHostSilent() {
        return false;
    }

    @Override
    public void hostSilent() {
        // Never.
    }
}
