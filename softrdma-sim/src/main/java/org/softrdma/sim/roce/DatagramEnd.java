package org.softrdma.sim.roce;

import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.link.QueuePairEnd;
import org.softrdma.sim.roce.unreliable.DatagramResponder;
import org.softrdma.sim.roce.wire.Deth;
import org.softrdma.sim.roce.wire.RoceOpcode;
import org.softrdma.sim.roce.wire.RocePacket;

/** A queue pair of datagrams: each request says where it goes. Inside a batch. */
final class DatagramEnd extends UnreliableEnd {
    private final int number;
    private final int queueKey;
    private final RocePort port;
    private final DatagramResponder responder;
    private final RoutingHeaderWriter header;

    /**
     * An end on which nothing was sent.
     *
     * @param engine of the queue pair
     * @param queuePair its queue pair
     * @param queueKey that datagrams must carry to be taken
     * @param startingPsn its first PSN
     * @param port where its packets leave and arrive
     */
    DatagramEnd(RnicEngine engine, QueuePairEnd queuePair, int queueKey, int startingPsn, RocePort port) {
        super(engine, queuePair, RoceOpcode.UD, RocePacket.MAX_TRANSFER_UNIT, startingPsn);
        number = queuePair.number();
        this.queueKey = queueKey;
        this.port = port;
        responder = new DatagramResponder(target, queueKey, port.drops());
        header = new RoutingHeaderWriter(engine.memory(), port.address());
    }

    @Override
    RocePath path(int slot) {
        RocePath path = ((RoceAddressHandle) sends.destination(slot)).path();
        path.from(port.localAddress().getPort());
        return path;
    }

    @Override
    int destination(int slot) {
        return sends.remoteNumber(slot);
    }

    /** A negative key stands for the sender's own. */
    @Override
    void putHeaders(long packet, int opcode, int slot) {
        int key = sends.queueKey(slot);
        Deth.put(packet, key < 0 ? queueKey : key, number);
    }

    @Override
    boolean take(long packet, int length) {
        if (responder.takes(packet, length)) {
            responder.place(packet, length, header.write(port.arrival(), length));
        }
        return !responder.hasFailed();
    }
}
