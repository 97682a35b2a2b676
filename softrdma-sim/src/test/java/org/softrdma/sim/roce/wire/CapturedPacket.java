package org.softrdma.sim.roce.wire;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Named;
import org.softrdma.net.memory.NativeMemory;

/** A whole IP packet of RoCEv2, and its parts, read by hand: nothing here is of the classes under test but their use. */
final class CapturedPacket {
    private static final int IPV4_LENGTH = 20;
    private static final int IPV6_LENGTH = 40;
    private static final int UDP_LENGTH = 8;

    private final byte[] ip;
    private final MemorySegment memory;

    /** Takes an IP packet. */
    CapturedPacket(byte[] whole) {
        int ipLength = whole[0] >>> 4 == 4 ? IPV4_LENGTH : IPV6_LENGTH;
        ip = Arrays.copyOf(whole, ipLength + UDP_LENGTH);
        memory = Arena.ofAuto().allocate(whole.length - ip.length, Long.BYTES);
        MemorySegment.copy(MemorySegment.ofArray(whole), ip.length, memory, 0, memory.byteSize());
    }

    /** The lines of a resource beside this class, which end with the packet's hex digits behind a bar. */
    static List<Named<CapturedPacket>> all(String resource) {
        return read(resource).stream()
                .map(line -> line.split(" \\| ", 2))
                .map(parts ->
                        Named.of(parts[0], new CapturedPacket(HexFormat.of().parseHex(parts[1]))))
                .toList();
    }

    /** The lines of a resource that are not comments, or of a file if there is none of this name. */
    static List<String> read(String resource) {
        try (InputStream bytes = CapturedPacket.class.getResourceAsStream(resource)) {
            String text = bytes == null
                    ? Files.readString(Path.of(resource))
                    : new String(bytes.readAllBytes(), StandardCharsets.US_ASCII);
            return text.lines().filter(line -> !line.startsWith("#")).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    boolean isIpv4() {
        return ip.length == IPV4_LENGTH + UDP_LENGTH;
    }

    int identification() {
        return ByteBuffer.wrap(ip).getShort(4) & 0xFFFF;
    }

    /** What the ICRC covers before the BTH, with the identification of an IPv4 packet, and with its length to come. */
    PseudoHeader header() {
        byte[] source = isIpv4() ? Arrays.copyOfRange(ip, 12, 16) : Arrays.copyOfRange(ip, 8, 24);
        byte[] destination = isIpv4() ? Arrays.copyOfRange(ip, 16, 20) : Arrays.copyOfRange(ip, 24, 40);
        PseudoHeader header = new PseudoHeader(source, destination);
        ByteBuffer udp = ByteBuffer.wrap(ip, ip.length - UDP_LENGTH, UDP_LENGTH);
        header.ports(udp.getShort() & 0xFFFF, udp.getShort() & 0xFFFF);
        if (isIpv4()) {
            header.identification(identification());
        }
        return header;
    }

    /** Where the BTH is. */
    long address() {
        return memory.address();
    }

    /** Bytes from the BTH through the ICRC. */
    int length() {
        return (int) memory.byteSize();
    }

    ByteBuffer view() {
        return memory.asByteBuffer();
    }

    /** The ICRC as it must be. */
    int icrc(PseudoHeader header) {
        return new Icrc().compute(header, view(), address(), address(), length());
    }

    /** BTH through ICRC as hex digits. */
    String hex() {
        return HexFormat.of().formatHex(NativeMemory.bytes(address(), length()));
    }

    /** IP and UDP header. */
    byte[] headers() {
        return ip.clone();
    }

    /** Flips a bit, counted from the BTH's first, or flips it back. */
    void flip(int bit) {
        long at = address() + bit / Byte.SIZE;
        NativeMemory.putByte(at, NativeMemory.getByte(at) ^ 0x80 >>> bit % Byte.SIZE);
    }
}
