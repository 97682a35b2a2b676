package org.softrdma.sim.roce;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.softrdma.net.transport.DatagramBatch;
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
import org.softrdma.sim.roce.wire.PacketCheck;
import org.softrdma.sim.roce.wire.RoceOpcode;
import org.softrdma.sim.roce.wire.RocePacket;

/**
 * A multicast group that queue pairs of this device have joined (annex A17): a socket of its own, which hears at port 4791
 * beside those of other devices. Each of its datagrams is for all of them. They send by their own ports.
 */
final class RoceGroup implements SocketEvents, DrivenConnection {
    private static final Logger LOG = LoggerFactory.getLogger(RoceGroup.class);
    private static final int BUFFERS = 4;
    private static final int BUFFER_BYTES = 1 << 16;

    private final RnicEngine engine;
    private final Counters<RoceCounter> counters;
    private final InetAddress address;
    private final DatagramSocket socket;
    private final Arrival arrival;
    private final PacketMemory received;
    private final DatagramBatch buffers = new DatagramBatch(BUFFERS);
    private final Icrc icrc = new Icrc();
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
        arrival = new Arrival(address, RocePacket.UDP_PORT);
        received = new PacketMemory(engine.memory(), BUFFERS * BUFFER_BYTES);
        socket = datagrams.join(new InetSocketAddress(address, RocePacket.UDP_PORT), locals, this);
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
        buffers.clear();
        for (int b = 0; b < BUFFERS; b++) {
            buffers.addBuffer(received.address() + (long) b * BUFFER_BYTES, BUFFER_BYTES);
        }
        int got = socket.receive(buffers);
        long nowNs = engine.loop().clock().nanoTime();
        for (int b = 0; b < got; b++) {
            int length = Math.min(buffers.length(b), buffers.room(b));
            int segment = buffers.segment(b);
            int place = 0;
            for (int done = 0; segment > 0 && done < length; done += segment) {
                counters.increment(RoceCounter.PACKETS_RECEIVED);
                long packet = buffers.address(b) + done;
                receivePacket(packet, Math.min(segment, length - done), place, buffers.peer(b), nowNs);
                place++;
            }
        }
        if (got == BUFFERS) {
            socket.rearm();
        }
    }

    private void receivePacket(long packet, int length, int place, PeerAddress from, long nowNs) {
        if (RocePacket.check(packet, length) != PacketCheck.VALID) {
            counters.increment(RoceCounter.MALFORMED);
        } else if (!Bth.isOfDefaultPartition(packet)) {
            counters.increment(RoceCounter.WRONG_PARTITION);
        } else if (Bth.destination(packet) != RocePacket.GROUP_QUEUE_PAIR) {
            counters.increment(RoceCounter.UNKNOWN_QUEUE_PAIR);
        } else if ((Bth.opcode(packet) & RoceOpcode.TRANSPORT_MASK) != RoceOpcode.UD) {
            counters.increment(RoceCounter.WRONG_TRANSPORT);
        } else if (!arrival.isIntact(icrc, received, packet, length, place, from)) {
            counters.increment(RoceCounter.ICRC_ERRORS);
            engine.counters().increment(Counter.CRC_ERRORS);
        } else {
            for (int i = members.size() - 1; i >= 0; i--) { // one that ends takes itself out
                members.get(i).received(arrival, packet, length, nowNs);
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
