package org.softrdma.sim.connection;

import java.io.EOFException;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.net.transport.StreamSocket;
import org.softrdma.sim.wire.MalformedFrameException;
import org.softrdma.sim.wire.MpaFrame;

/** Receives one MPA frame, and no byte beyond it. Engine thread only. */
final class HandshakeReader {
    private final boolean request;
    private final byte[] frame = new byte[MpaFrame.MAX_LENGTH];
    private int received;

    /** Expects a request if true, else a reply. */
    HandshakeReader(boolean request) {
        this.request = request;
    }

    /**
     * Receives what has arrived.
     *
     * @param socket where from
     * @param buffer address of at least {@link MpaFrame#MAX_LENGTH} scratch bytes
     * @return the frame, or null if it is not complete yet
     * @throws EOFException if the peer ended the stream
     * @throws IOException if it broke
     * @throws MalformedFrameException if this is not the frame expected
     */
    @Nullable
    MpaFrame receive(StreamSocket socket, long buffer) throws IOException, MalformedFrameException {
        int needed = MpaFrame.frameLength(frame, received, request);
        while (received < needed) {
            int here = socket.receive(buffer, needed - received);
            if (here == 0) {
                return null;
            }
            if (here < 0) {
                throw new EOFException("the peer closed the connection during the handshake");
            }
            System.arraycopy(NativeMemory.bytes(buffer, here), 0, frame, received, here);
            received += here;
            needed = MpaFrame.frameLength(frame, received, request);
        }
        return MpaFrame.decode(frame, received, request);
    }
}
