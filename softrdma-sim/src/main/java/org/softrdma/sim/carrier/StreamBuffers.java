package org.softrdma.sim.carrier;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.softrdma.net.transport.IoVectors;
import org.softrdma.sim.memory.MemoryOperations;
import org.softrdma.sim.pinning.InUse;
import org.softrdma.sim.wire.FpduCrc;

/** The buffers of an engine, which its streams use one at a time to send and receive. Engine thread only. */
public final class StreamBuffers implements InUse {
    /** Entries of a receive: registered memory and the buffer. */
    static final int RECEIVE_VECTORS = 2;

    private static final int STAGING_BYTES = 256 * 1024;
    /** Of a batch that is one of several under way: more than the longest FPDU. */
    private static final int SPARE_STAGING_BYTES = 128 * 1024;

    /** For which there is room without growing. */
    private static final int MOST_UNDER_WAY = 64;

    private static final int PAGE = 4096;

    private final MemorySegment receiveBuffer;
    private final ByteBuffer receiveView;
    private final IoVectors receiveVectors;
    private final MemoryOperations memory;
    /** Batches whose sockets send later; at most as many as a transport sends at once. */
    private final List<TransmitBatch> underWay = new ArrayList<>(MOST_UNDER_WAY);

    private final ArrayDeque<TransmitBatch> free = new ArrayDeque<>(MOST_UNDER_WAY);
    private TransmitBatch batch;
    private final SpareBuffers spares;
    private final UnfinishedFpdus unfinished = new UnfinishedFpdus();
    private final FpduCrc crc = new FpduCrc();
    private final SegmentCounters segments = new SegmentCounters();

    /**
     * Allocates them.
     *
     * @param memory of the device
     * @param receiveBytes bytes of the receive buffer
     */
    public StreamBuffers(MemoryOperations memory, int receiveBytes) {
        this.memory = memory;
        receiveBuffer = memory.allocate(receiveBytes, PAGE);
        receiveView = receiveBuffer.asByteBuffer();
        receiveVectors = new IoVectors(memory, RECEIVE_VECTORS);
        batch = new TransmitBatch(memory, STAGING_BYTES);
        spares = new SpareBuffers(memory);
    }

    /** Bytes of the receive buffer. */
    public int receiveBytes() {
        return (int) receiveBuffer.byteSize();
    }

    /** Address of the receive buffer, which is free between two turns. */
    public long receiveAddress() {
        return receiveBuffer.address();
    }

    /** The receive buffer. */
    public ByteBuffer receiveView() {
        return receiveView;
    }

    IoVectors receiveVectors() {
        return receiveVectors;
    }

    /** The segments of the next send. Another one after {@link #leave}. */
    public TransmitBatch batch() {
        return batch;
    }

    /** The batch is sent later; until it is {@link #giveBack given back}, another one takes its place. */
    TransmitBatch leave() {
        TransmitBatch left = batch;
        TransmitBatch other = free.pollFirst();
        TransmitBatch next = other == null ? new TransmitBatch(memory, SPARE_STAGING_BYTES) : other;
        underWay.add(left);
        batch = next;
        return left;
    }

    /** A batch has been sent. */
    void giveBack(TransmitBatch sent) {
        sent.begin(); // the gathered memory is no longer in use
        if (underWay.remove(sent)) { // else there was no memory for another one, and it is the next
            free.addFirst(sent);
        }
    }

    @Override
    public boolean overlaps(long from, long to) {
        if (batch.overlaps(from, to)) {
            return true;
        }
        for (int i = 0; i < underWay.size(); i++) {
            if (underWay.get(i).overlaps(from, to)) {
                return true;
            }
        }
        return false;
    }

    SpareBuffers spares() {
        return spares;
    }

    UnfinishedFpdus unfinished() {
        return unfinished;
    }

    /** Counts the segments of all streams. */
    public SegmentCounters segments() {
        return segments;
    }

    /** Computes and checks CRC fields. */
    public FpduCrc crc() {
        return crc;
    }
}
