package org.softrdma.sim.capture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads a capture and checks each block, length, checksum and sequence number on the way. */
final class CaptureReader {
    private static final int FIN = 1;
    private static final int SYN = 2;
    private static final int RST = 4;
    private static final int ACK = 16;

    private final List<Packet> packets = new ArrayList<>();
    private final Map<List<InetSocketAddress>, Stream> streams = new LinkedHashMap<>();
    private final List<Datagram> datagrams = new ArrayList<>();
    private int sections;

    /** One TCP segment. */
    @SuppressWarnings("ArrayRecordComponent") // looked into, never compared
    record Packet(
            InetSocketAddress from,
            InetSocketAddress to,
            int sequence,
            int acknowledgement,
            int flags,
            byte[] payload,
            long timeNs) {}

    /** One datagram of UDP. */
    @SuppressWarnings("ArrayRecordComponent") // looked into, never compared
    record Datagram(InetSocketAddress from, InetSocketAddress to, byte[] header, byte[] payload) {
        int identification() {
            return (header[4] & 0xFF) << 8 | (header[5] & 0xFF);
        }

        boolean mayNotBeCut() {
            return (header[6] & 0x40) != 0;
        }

        int typeOfService() {
            return header.length == 20 ? header[1] & 0xFF : (header[0] & 0xF) << 4 | (header[1] & 0xF0) >>> 4;
        }
    }

    /** One way of a connection. */
    private static final class Stream {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        private int next;
        private boolean ended;
    }

    private CaptureReader() {}

    /** Reads a whole file. */
    static CaptureReader read(Path file) throws IOException {
        CaptureReader reader = new CaptureReader();
        ByteBuffer all = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
        boolean described = false;
        while (all.hasRemaining()) {
            int type = all.getInt(all.position());
            int length = all.getInt(all.position() + 4);
            assertTrue(length >= 12 && length % 4 == 0 && length <= all.remaining(), "block length " + length);
            assertEquals(length, all.getInt(all.position() + length - 4), "block length at its end");
            ByteBuffer body = all.slice(all.position() + 8, length - 12).order(ByteOrder.LITTLE_ENDIAN);
            all.position(all.position() + length);
            switch (type) {
                case 0x0A0D0D0A -> {
                    assertEquals(0x1A2B3C4D, body.getInt(0), "byte-order magic");
                    assertEquals(1, body.getShort(4), "major version");
                    assertEquals(-1, body.getLong(8), "section length");
                    reader.sections++;
                    described = false;
                }
                case 1 -> {
                    assertEquals(101, body.getShort(0), "link type");
                    assertEquals(9, body.getShort(8), "option if_tsresol");
                    assertEquals(9, body.get(12), "nanoseconds");
                    described = true;
                }
                case 6 -> {
                    assertTrue(described, "a packet before its interface");
                    assertEquals(0, body.getInt(0), "interface");
                    assertEquals(body.getInt(12), body.getInt(16), "captured whole");
                    assertEquals((body.getInt(12) + 3 & ~3) + 20, body.limit(), "room for the packet");
                    long time = (long) body.getInt(4) << 32 | Integer.toUnsignedLong(body.getInt(8));
                    reader.packet(body.slice(20, body.getInt(12)), time);
                }
                default -> throw new AssertionError("block type " + type);
            }
        }
        return reader;
    }

    private void packet(ByteBuffer ip, long timeNs) throws IOException {
        boolean ipv4 = ip.get(0) >>> 4 == 4;
        int header = ipv4 ? 20 : 40;
        int addressLength = ipv4 ? 4 : 16;
        int addresses = header - 2 * addressLength;
        if (ipv4) {
            assertEquals(ip.limit(), Short.toUnsignedInt(ip.getShort(2)), "total length");
            assertEquals(0xFFFF, sum(ip, 0, header, 0), "checksum of the IP header");
        } else {
            assertEquals(6, ip.get(0) >>> 4, "IP version");
            assertEquals(ip.limit() - header, Short.toUnsignedInt(ip.getShort(4)), "payload length");
        }
        int protocol = ip.get(ipv4 ? 9 : 6);
        long pseudo = (long) protocol + ip.limit() - header;
        assertEquals(0xFFFF, sum(ip, addresses, ip.limit(), pseudo), "checksum of the TCP segment or datagram");
        if (protocol == 17) {
            assertEquals(ip.limit() - header, Short.toUnsignedInt(ip.getShort(header + 4)), "length of the datagram");
            datagrams.add(new Datagram(
                    address(ip, addresses, addressLength, header),
                    address(ip, addresses + addressLength, addressLength, header + 2),
                    bytes(ip, 0, header),
                    bytes(ip, header + 8, ip.limit())));
            return;
        }
        assertEquals(6, protocol, "protocol");
        int dataOffset = (ip.get(header + 12) >>> 4 & 0xF) * 4;
        Packet packet = new Packet(
                address(ip, addresses, addressLength, header),
                address(ip, addresses + addressLength, addressLength, header + 2),
                ip.getInt(header + 4),
                ip.getInt(header + 8),
                ip.get(header + 13),
                bytes(ip, header + dataOffset, ip.limit()),
                timeNs);
        packets.add(packet);
        follow(packet);
    }

    private void follow(Packet packet) {
        Stream sender = streams.computeIfAbsent(List.of(packet.from, packet.to), ends -> new Stream());
        Stream receiver = streams.computeIfAbsent(List.of(packet.to, packet.from), ends -> new Stream());
        boolean syn = (packet.flags & SYN) != 0;
        if (syn) {
            sender.next = packet.sequence;
        }
        assertEquals(sender.next, packet.sequence, "sequence number");
        if ((packet.flags & ACK) != 0) {
            assertEquals(receiver.next, packet.acknowledgement, "acknowledgement number");
        }
        assertTrue(!sender.ended, "a packet behind the end");
        sender.bytes.writeBytes(packet.payload);
        sender.ended = (packet.flags & (FIN | RST)) != 0;
        sender.next += packet.payload.length + (syn || sender.ended ? 1 : 0);
    }

    private static InetSocketAddress address(ByteBuffer ip, int at, int length, int port) throws IOException {
        return new InetSocketAddress(
                InetAddress.getByAddress(bytes(ip, at, at + length)), Short.toUnsignedInt(ip.getShort(port)));
    }

    private static byte[] bytes(ByteBuffer from, int begin, int end) {
        byte[] bytes = new byte[end - begin];
        from.get(begin, bytes);
        return bytes;
    }

    private static long sum(ByteBuffer bytes, int from, int to, long first) {
        long sum = first;
        byte[] even = Arrays.copyOf(bytes(bytes, from, to), to - from + 1 & ~1);
        for (int i = 0; i < even.length; i += 2) {
            sum += (even[i] & 0xFF) << 8 | (even[i + 1] & 0xFF);
        }
        while (sum > 0xFFFF) {
            sum = (sum & 0xFFFF) + (sum >>> 16);
        }
        return sum;
    }

    int sections() {
        return sections;
    }

    List<Datagram> datagrams() {
        return datagrams;
    }

    List<Packet> packets() {
        return packets;
    }

    /** The ends of the ways, in the order of their first packets: initiator's way first. */
    List<List<InetSocketAddress>> ways() {
        return List.copyOf(streams.keySet());
    }

    /** All bytes of one way. */
    byte[] bytes(List<InetSocketAddress> way) {
        return stream(way).bytes.toByteArray();
    }

    /** True if a way has an end. */
    boolean hasEnded(List<InetSocketAddress> way) {
        return stream(way).ended;
    }

    private Stream stream(List<InetSocketAddress> way) {
        Stream stream = streams.get(way);
        if (stream == null) {
            throw new AssertionError("no stream " + way + " in " + streams.keySet());
        }
        return stream;
    }
}
