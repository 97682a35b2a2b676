package org.softrdma.sim.capture;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/**
 * The IP and TCP headers before captured bytes (RFC 9293). Big endian.
 *
 * <pre>
 *   {@link IpPacket}, then
 *   +---------------+---------------+
 *   | source port   | destination   |   0
 *   +---------------+---------------+
 *   |  sequence number              |   4
 *   +-------------------------------+
 *   |  acknowledgement number       |   8
 *   +---------------+---------------+
 *   | 5 or 6, flags |  window       |  12
 *   +---------------+---------------+
 *   |  checksum     |  0            |  16
 *   +---------------+---------------+
 *   |  0x0103030E: window scale 14  |  20   with SYN only
 *   +-------------------------------+
 *   |  payload                      |
 * </pre>
 */
final class TcpPacket {
    static final int FIN = 0x01;
    static final int SYN = 0x02;
    static final int RST = 0x04;
    static final int PSH = 0x08;
    static final int ACK = 0x10;

    private static final int SYN_OPTIONS = 0x0103030E;
    private static final int TCP_HEADER_LENGTH = 20;
    /** Longest payload of a packet, by the length field of IPv4. */
    static final int MAX_PAYLOAD = 0xFFFF - IpPacket.IPV4_HEADER_LENGTH - TCP_HEADER_LENGTH;

    private static final int TCP_LENGTH_SHIFT = 12;
    private static final int TCP_CHECKSUM_OFFSET = 16;
    private static final int WINDOW = 0xFFFF;

    private TcpPacket() {}

    /**
     * Writes the headers with lengths and checksums still 0; the payload follows, then {@link #finish}.
     *
     * @param out big endian, appended to
     * @param from the sender
     * @param to the receiver
     * @param sequence sequence number of the first byte
     * @param acknowledgement the sequence number the sender expects next; 0 without ACK
     * @param flags {@link #FIN}, {@link #SYN}, {@link #RST}, {@link #PSH}, {@link #ACK}
     */
    static void begin(
            ByteBuffer out,
            InetSocketAddress from,
            InetSocketAddress to,
            int sequence,
            int acknowledgement,
            int flags) {
        IpPacket.begin(out, from.getAddress(), to.getAddress(), IpPacket.TCP, 0, 0);
        boolean options = (flags & SYN) != 0;
        int header = TCP_HEADER_LENGTH + (options ? Integer.BYTES : 0);
        out.putShort((short) from.getPort()).putShort((short) to.getPort());
        out.putInt(sequence).putInt(acknowledgement);
        out.putShort((short) (((header / Integer.BYTES) << TCP_LENGTH_SHIFT) | flags))
                .putShort((short) WINDOW);
        out.putInt(0);
        if (options) {
            out.putInt(SYN_OPTIONS);
        }
    }

    /**
     * Fills in lengths and checksums.
     *
     * @param out its position is the end of the packet
     * @param start where the packet begins
     */
    static void finish(ByteBuffer out, int start) {
        IpPacket.finish(out, start, TCP_CHECKSUM_OFFSET);
    }
}
