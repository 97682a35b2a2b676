package org.softrdma.sim.capture;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * One TCP connection as packets, from handshake to end, with sequence numbers for both directions. They are not the
 * packets of the network: each holds what one call sent or received, up to {@link TcpPacket#MAX_PAYLOAD} bytes, and
 * none is lost or repeated.
 *
 * <p>Thread: the socket's event loop.
 */
final class CapturedStream {
    private final PcapngFile file;
    private final End local;
    private final End remote;

    /** One end: the sequence number that it sends next. */
    private static final class End {
        private final InetSocketAddress address;
        private int sequence;
        private boolean ended;

        End(InetSocketAddress address, int sequence) {
            this.address = address;
            this.sequence = sequence;
        }
    }

    /**
     * Begins with TCP's handshake.
     *
     * @param file where packets go
     * @param local this end
     * @param remote the peer
     * @param active this end connects
     * @param sequence initial sequence number of both ends
     */
    CapturedStream(PcapngFile file, InetSocketAddress local, InetSocketAddress remote, boolean active, int sequence) {
        this.file = file;
        this.local = new End(local, sequence);
        this.remote = new End(remote, sequence);
        End initiator = active ? this.local : this.remote;
        End responder = active ? this.remote : this.local;
        packet(initiator, responder, TcpPacket.SYN);
        initiator.sequence++;
        packet(responder, initiator, TcpPacket.SYN | TcpPacket.ACK);
        responder.sequence++;
        packet(initiator, responder, TcpPacket.ACK);
    }

    InetSocketAddress localAddress() {
        return local.address;
    }

    InetSocketAddress remoteAddress() {
        return remote.address;
    }

    /** This end has sent bytes. */
    void sent(List<MemorySegment> pieces) {
        data(local, remote, pieces);
    }

    /** Bytes from the peer have arrived. */
    void received(List<MemorySegment> pieces) {
        data(remote, local, pieces);
    }

    /** This end has ended its stream. */
    void sentEnd() {
        end(local, remote, TcpPacket.FIN | TcpPacket.ACK);
    }

    /** The peer has ended its stream. */
    void receivedEnd() {
        end(remote, local, TcpPacket.FIN | TcpPacket.ACK);
    }

    /** This end has reset the connection. */
    void sentReset() {
        end(local, remote, TcpPacket.RST | TcpPacket.ACK);
        remote.ended = true;
    }

    /** The connection broke, for example by a reset from the peer. */
    void receivedReset() {
        end(remote, local, TcpPacket.RST | TcpPacket.ACK);
        local.ended = true;
    }

    private void end(End from, End to, int flags) {
        if (!from.ended) {
            from.ended = true;
            packet(from, to, flags);
            from.sequence++;
        }
    }

    private void packet(End from, End to, int flags) {
        file.write(out -> {
            int start = out.position();
            begin(out, from, to, flags);
            TcpPacket.finish(out, start);
        });
    }

    private static void begin(ByteBuffer out, End from, End to, int flags) {
        int acknowledgement = (flags & TcpPacket.ACK) == 0 ? 0 : to.sequence;
        TcpPacket.begin(out, from.address, to.address, from.sequence, acknowledgement, flags);
    }

    private void data(End from, End to, List<MemorySegment> pieces) {
        Pieces left = new Pieces(pieces);
        while (left.hasMore() && file.isOpen()) {
            file.write(out -> {
                int start = out.position();
                begin(out, from, to, TcpPacket.PSH | TcpPacket.ACK);
                from.sequence += left.copy(out, TcpPacket.MAX_PAYLOAD);
                TcpPacket.finish(out, start);
            });
        }
    }

    /** A place in a list of pieces. */
    private static final class Pieces {
        private final List<MemorySegment> pieces;
        private int index;
        private long offset;

        Pieces(List<MemorySegment> pieces) {
            this.pieces = pieces;
            skipEmpty();
        }

        boolean hasMore() {
            return index < pieces.size();
        }

        /** Copies the next bytes and returns how many. */
        int copy(ByteBuffer out, int most) {
            int copied = 0;
            while (hasMore() && copied < most) {
                MemorySegment piece = pieces.get(index);
                int here = (int) Math.min(most - copied, piece.byteSize() - offset);
                MemorySegment.copy(
                        piece,
                        ValueLayout.JAVA_BYTE,
                        offset,
                        MemorySegment.ofBuffer(out),
                        ValueLayout.JAVA_BYTE,
                        0,
                        here);
                out.position(out.position() + here);
                copied += here;
                offset += here;
                skipEmpty();
            }
            return copied;
        }

        private void skipEmpty() {
            while (index < pieces.size() && offset == pieces.get(index).byteSize()) {
                index++;
                offset = 0;
            }
        }
    }
}
