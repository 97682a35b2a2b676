package org.softrdma.sim.capture;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.softrdma.net.memory.NativeMemory;

/**
 * The IP and UDP headers before a captured datagram (RFC 768). Big endian.
 *
 * <pre>
 *   {@link IpPacket}, then
 *   +---------------+---------------+
 *   | source port   | destination   |   0
 *   +---------------+---------------+
 *   |  length       |  checksum     |   4
 *   +---------------+---------------+
 *   |  payload                      |   8
 * </pre>
 */
final class UdpPacket {
    private static final int HEADER_LENGTH = 8;
    private static final int CHECKSUM_OFFSET = 6;

    private UdpPacket() {}

    /**
     * Where a datagram went, and what its IP header says beside.
     *
     * @param from the sender
     * @param to the receiver
     * @param typeOfService of IPv4, or traffic class
     * @param identification of IPv4
     */
    record Headers(InetSocketAddress from, InetSocketAddress to, int typeOfService, int identification) {}

    /**
     * Writes a whole packet.
     *
     * @param out big endian, appended to
     * @param headers what they say
     * @param address of the payload
     * @param length bytes of the datagram
     * @param captured bytes of it that are there; the others are written as zeroes
     */
    static void write(ByteBuffer out, Headers headers, long address, int length, int captured) {
        int start = out.position();
        IpPacket.begin(
                out,
                headers.from().getAddress(),
                headers.to().getAddress(),
                IpPacket.UDP,
                headers.typeOfService(),
                headers.identification());
        out.putShort((short) headers.from().getPort())
                .putShort((short) headers.to().getPort());
        out.putShort((short) (HEADER_LENGTH + length)).putShort((short) 0);
        MemorySegment.copy(NativeMemory.segment(address, captured), 0, MemorySegment.ofBuffer(out), 0, captured);
        out.position(out.position() + captured);
        for (int i = captured; i < length; i++) {
            out.put((byte) 0);
        }
        IpPacket.finish(out, start, CHECKSUM_OFFSET);
    }
}
