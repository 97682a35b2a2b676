package org.softrdma.sim.roce;

import java.util.List;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.link.QueuePairEnd;
import org.softrdma.sim.roce.unreliable.DatagramResponder;
import org.softrdma.sim.roce.wire.Deth;
import org.softrdma.sim.roce.wire.RoceOpcode;
import org.softrdma.sim.roce.wire.RocePacket;

/** A queue pair of datagrams: each request says where it goes. Inside a batch. */
final class DatagramEnd extends UnreliableEnd {
    private final int number;
    private final RoceConnection connection;
    /** Where its packets leave and arrive; by its handle a request names the address of one. */
    private final List<RocePort> ports;

    private int queueKey;
    private final DatagramResponder responder;
    private final RoutingHeaderWriter header;

    /**
     * An end on which nothing was sent.
     *
     * @param connection of the queue pair
     * @param queuePair its queue pair
     * @param queueKey that datagrams must carry to be taken
     * @param startingPsn its first PSN
     * @param ports where its packets leave and arrive, at least one
     */
    DatagramEnd(
            RoceConnection connection, QueuePairEnd queuePair, int queueKey, int startingPsn, List<RocePort> ports) {
        RnicEngine engine = connection.engine();
        super(engine, queuePair, RoceOpcode.UD, RocePacket.MAX_TRANSFER_UNIT, startingPsn);
        number = queuePair.number();
        this.connection = connection;
        this.queueKey = queueKey;
        this.ports = ports;
        responder = new DatagramResponder(target, queueKey, ports.getFirst().drops());
        header = new RoutingHeaderWriter(engine.memory());
    }

    /** Datagrams must carry another key from now on. */
    void queueKey(int newQueueKey) {
        queueKey = newQueueKey;
        responder.queueKey(newQueueKey);
    }

    @Override
    boolean leavesBy(PacketStage stage, int slot) {
        RocePort port = port(handle(slot));
        if (port.has(stage)) {
            return true;
        }
        port.sendsNext(connection);
        return false;
    }

    /** Whoever has posted it has seen that there is one. */
    private RocePort port(RoceAddressHandle handle) {
        for (int i = 1; i < ports.size(); i++) {
            if (ports.get(i).address().equals(handle.local())) {
                return ports.get(i);
            }
        }
        return ports.getFirst();
    }

    private RoceAddressHandle handle(int slot) {
        return (RoceAddressHandle) sends.destination(slot);
    }

    @Override
    RocePath path(int slot) {
        RoceAddressHandle handle = handle(slot);
        handle.path().from(port(handle).localAddress().getPort());
        return handle.path();
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
    boolean take(Arrival arrival, long packet, int length) {
        if (responder.takes(packet, length)) {
            responder.place(packet, length, header.write(arrival, length));
        }
        return !responder.hasFailed();
    }
}
