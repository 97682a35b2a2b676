package org.softrdma.sim.roce;

import java.io.IOException;
import java.net.InetSocketAddress;
import org.softrdma.net.transport.DatagramBatch;
import org.softrdma.net.transport.DatagramSocket;
import org.softrdma.net.transport.PeerAddress;
import org.softrdma.sim.engine.Counter;
import org.softrdma.sim.engine.Counters;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.roce.wire.Bth;
import org.softrdma.sim.roce.wire.Icrc;
import org.softrdma.sim.roce.wire.PacketCheck;
import org.softrdma.sim.roce.wire.RocePacket;

/**
 * Receives packets from a UDP socket: the buffers, the trains in them, which it cuts into packets, and the checks that all
 * packets have to pass. One that fails is counted and dropped. Engine thread only.
 */
final class PacketReceiver {
    /** Each has room for a train. */
    private static final int BUFFER_BYTES = 1 << 16;

    private final RnicEngine engine;
    private final Counters<RoceCounter> counters;
    private final Icrc icrc;
    private final Arrival arrival;
    private final Packets packets;
    private final int count;
    private final PacketMemory received;
    private final DatagramBatch buffers;
    private long receivedNs;

    /** Takes packets that are well formed and of the default partition. */
    @FunctionalInterface
    interface Packets {
        /**
         * A packet. If anybody wants it, {@link PacketReceiver#isIntact} is still to be asked.
         *
         * @param packet where its BTH is
         * @param length its bytes, with the ICRC
         * @param place in the train as which it came
         * @param from who has sent it
         */
        void take(long packet, int length, int place, PeerAddress from);
    }

    /**
     * For a socket.
     *
     * @param engine that drives it
     * @param counters of the engine's ports
     * @param icrc computes it
     * @param count of buffers
     * @param local address and UDP port at which packets arrive
     * @param packets takes them
     */
    PacketReceiver(
            RnicEngine engine,
            Counters<RoceCounter> counters,
            Icrc icrc,
            int count,
            InetSocketAddress local,
            Packets packets) {
        this.engine = engine;
        this.counters = counters;
        this.icrc = icrc;
        this.count = count;
        this.packets = packets;
        arrival = new Arrival(local.getAddress(), local.getPort());
        received = new PacketMemory(engine.memory(), count * BUFFER_BYTES);
        buffers = new DatagramBatch(count);
    }

    /** The packet of which {@link #isIntact} was last asked. */
    Arrival arrival() {
        return arrival;
    }

    /** When the last packets were received. */
    long receivedNs() {
        return receivedNs;
    }

    /** Receives at most one train for each buffer; true if there may be more. */
    boolean receive(DatagramSocket socket) throws IOException {
        buffers.clear();
        for (int b = 0; b < count; b++) {
            buffers.addBuffer(received.address() + (long) b * BUFFER_BYTES, BUFFER_BYTES);
        }
        int got = socket.receive(buffers);
        engine.counters().increment(Counter.RECEIVE_CALLS);
        receivedNs = engine.loop().clock().nanoTime();
        for (int b = 0; b < got; b++) {
            cut(b);
        }
        return got == count;
    }

    /** Cuts a train into packets. */
    private void cut(int buffer) {
        int length = Math.min(buffers.length(buffer), buffers.room(buffer));
        int segment = buffers.segment(buffer);
        long at = buffers.address(buffer);
        PeerAddress from = buffers.peer(buffer);
        if (from.isIpv4() != arrival.local().isIpv4() || segment < 1) {
            counters.increment(RoceCounter.MALFORMED);
            return;
        }
        int place = 0;
        for (int done = 0; done < length; done += segment) {
            counters.increment(RoceCounter.PACKETS_RECEIVED);
            check(at + done, Math.min(segment, length - done), place, from);
            place++;
        }
    }

    private void check(long packet, int length, int place, PeerAddress from) {
        if (RocePacket.check(packet, length) != PacketCheck.VALID) {
            counters.increment(RoceCounter.MALFORMED);
        } else if (!Bth.isOfDefaultPartition(packet)) {
            counters.increment(RoceCounter.WRONG_PARTITION);
        } else {
            packets.take(packet, length, place, from);
        }
    }

    /** True if the ICRC of a packet is right, which is then the {@link #arrival}; otherwise it is counted. */
    boolean isIntact(long packet, int length, int place, PeerAddress from) {
        if (arrival.isIntact(icrc, received, packet, length, place, from)) {
            return true;
        }
        counters.increment(RoceCounter.ICRC_ERRORS);
        engine.counters().increment(Counter.CRC_ERRORS);
        return false;
    }
}
