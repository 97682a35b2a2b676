package org.softrdma.sim.carrier;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.softrdma.sim.memory.MemoryOperations;
import org.softrdma.sim.transport.IoVectors;
import org.softrdma.sim.wire.FpduCrc;

/** The buffers of an engine, which its streams use one at a time to send and receive. Engine thread only. */
public final class StreamBuffers {
    /** Entries of a receive: registered memory and the buffer. */
    static final int RECEIVE_VECTORS = 2;

    private static final int STAGING_BYTES = 256 * 1024;
    private static final int PAGE = 4096;

    private final MemorySegment receiveBuffer;
    private final ByteBuffer receiveView;
    private final IoVectors receiveVectors;
    private final TransmitBatch batch;
    private final SpareBuffers spares;
    private final FpduCrc crc = new FpduCrc();

    /**
     * Allocates them.
     *
     * @param memory of the device
     * @param receiveBytes bytes of the receive buffer
     */
    public StreamBuffers(MemoryOperations memory, int receiveBytes) {
        receiveBuffer = memory.allocate(receiveBytes, PAGE);
        receiveView = receiveBuffer.asByteBuffer();
        receiveVectors = new IoVectors(memory, RECEIVE_VECTORS);
        batch = new TransmitBatch(memory, STAGING_BYTES);
        spares = new SpareBuffers(memory);
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

    /** The segments of the next send. */
    public TransmitBatch batch() {
        return batch;
    }

    SpareBuffers spares() {
        return spares;
    }

    /** Computes and checks CRC fields. */
    public FpduCrc crc() {
        return crc;
    }
}
