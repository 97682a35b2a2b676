package org.softrdma.sim.roce.wire;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import org.softrdma.net.memory.NativeMemory;

/**
 * The address of a RoCE port, 16 bytes: an IPv6 address, or ::ffff:a.b.c.d for the IPv4 address a.b.c.d (annex A17).
 *
 * @param high the first eight bytes, big endian
 * @param low the last eight bytes, big endian
 */
public record Gid(long high, long low) {
    /** Bytes of one. */
    public static final int LENGTH = 2 * Long.BYTES;

    private static final long MAPPED_MASK = 0xFFFF_FFFF_0000_0000L;
    private static final long MAPPED = 0xFFFF_0000_0000L;
    private static final int IPV4_LENGTH = Integer.BYTES;

    /** That of an address of either family. */
    public static Gid of(InetAddress address) {
        byte[] bytes = address.getAddress();
        if (bytes.length == IPV4_LENGTH) {
            return ofIpv4(ByteBuffer.wrap(bytes).getInt());
        }
        ByteBuffer both = ByteBuffer.wrap(bytes);
        return new Gid(both.getLong(), both.getLong());
    }

    /** That of an IPv4 address, which is given as a word. */
    static Gid ofIpv4(int address) {
        return new Gid(0, MAPPED | Integer.toUnsignedLong(address));
    }

    /** True if it stands for an IPv4 address. */
    public boolean isIpv4() {
        return high == 0 && (low & MAPPED_MASK) == MAPPED;
    }

    /** Reads 16 bytes. */
    static Gid read(long field) {
        return new Gid(NativeMemory.getLong(field), NativeMemory.getLong(field + Long.BYTES));
    }

    /** Writes 16 bytes. */
    void write(long field) {
        NativeMemory.putLong(field, high);
        NativeMemory.putLong(field + Long.BYTES, low);
    }

    /** The IPv4 or IPv6 address that it stands for. */
    public InetAddress address() {
        ByteBuffer bytes = isIpv4()
                ? ByteBuffer.allocate(IPV4_LENGTH).putInt((int) low)
                : ByteBuffer.allocate(LENGTH).putLong(high).putLong(low);
        try {
            return InetAddress.getByAddress(bytes.array());
        } catch (UnknownHostException e) { // only if the length were neither 4 nor 16
            throw new IllegalStateException(e);
        }
    }
}
