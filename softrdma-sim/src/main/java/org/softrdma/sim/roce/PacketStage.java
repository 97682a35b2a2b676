package org.softrdma.sim.roce;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.softrdma.net.transport.DatagramBatch;
import org.softrdma.net.transport.DatagramSocket;
import org.softrdma.sim.engine.Counters;
import org.softrdma.sim.memory.MemoryOperations;
import org.softrdma.sim.roce.wire.Icrc;
import org.softrdma.sim.roce.wire.RocePacket;

/**
 * Packets on their way to a port's socket. They lie one behind the other; those of one path and of one length, but for
 * the last, become a train. What the socket has no room for waits here, and nothing is added until it has gone.
 */
final class PacketStage {
    private static final int BYTES = 256 * 1024;
    private static final int ENTRIES = 64;

    private final DatagramSocket socket;
    private final PacketMemory memory;
    private final Counters<RoceCounter> counters;
    private final Icrc icrc;
    private final DatagramBatch batch = new DatagramBatch(ENTRIES);

    private int used;
    /** Entries of the batch that have gone. */
    private int sent;

    // The train that may still grow.
    private @Nullable RocePath path;
    private long train;
    private int trainLength;
    private int segment;
    private int count;

    PacketStage(DatagramSocket socket, MemoryOperations operations, Icrc icrc, Counters<RoceCounter> counters) {
        this.socket = socket;
        this.icrc = icrc;
        this.counters = counters;
        memory = new PacketMemory(operations, BYTES);
    }

    /** True if another packet fits. */
    boolean hasRoom() {
        return sent == 0 && batch.size() + 1 < ENTRIES && used + RocePacket.MAX_LENGTH <= BYTES;
    }

    /** True if nothing waits. */
    boolean isEmpty() {
        return batch.size() == 0 && count == 0;
    }

    /** Where the next packet is written; only if {@link #hasRoom}. */
    long next() {
        return memory.address() + used;
    }

    /**
     * The packet there is complete but for its ICRC.
     *
     * @param length its bytes, with the ICRC: a multiple of 4
     * @param to where it goes
     */
    void add(int length, RocePath to) {
        long packet = next();
        boolean joins = path == to
                && length <= segment
                && trainLength == count * segment // else its last one was shorter
                && count < socket.maxSegments()
                && trainLength + length <= DatagramSocket.MAX_TRAIN_BYTES;
        if (!joins) {
            endTrain();
            path = to;
            train = packet;
            segment = length;
        }
        RocePacket.putIcrc(packet, length, to.seal(icrc, memory, packet, length, count));
        trainLength += length;
        count++;
        used += length;
        counters.increment(RoceCounter.PACKETS_SENT);
    }

    private void endTrain() {
        RocePath to = path;
        if (count == 1 && to != null) {
            batch.add(train, trainLength, to.peer());
        } else if (count > 1 && to != null) {
            batch.addTrain(train, trainLength, segment, to.peer());
        }
        path = null;
        count = 0;
        trainLength = 0;
    }

    /**
     * Sends what there is.
     *
     * @return false if some of it waits for room
     */
    boolean flush() throws IOException {
        endTrain();
        if (sent < batch.size()) {
            sent += socket.send(batch, sent, batch.size() - sent);
        }
        if (sent < batch.size()) {
            return false;
        }
        batch.clear();
        sent = 0;
        used = 0;
        return true;
    }
}
