package org.softrdma.net.transport;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;

/**
 * Address and port of the other end of a datagram, as numbers: nothing is made for a datagram that arrives. An IPv4 address is
 * ::ffff:a.b.c.d. It can be changed, because the entries of a {@link DatagramBatch} are used again and again: whoever keeps one
 * makes a copy. One thread.
 */
public final class PeerAddress {
    private static final int IPV4_BYTES = Integer.BYTES;
    private static final long MAPPED = 0xFFFF_0000_0000L;
    private static final long MAPPED_MASK = 0xFFFF_FFFF_0000_0000L;

    private long high;
    private long low;
    private int port;
    private int scope;

    /** Nobody yet. */
    public PeerAddress() {}

    /** That of a socket. */
    public static PeerAddress of(InetSocketAddress address) {
        PeerAddress made = new PeerAddress();
        made.set(address);
        return made;
    }

    /** Changes it. */
    public void set(InetSocketAddress address) {
        InetAddress host = address.getAddress();
        if (host == null) {
            throw new IllegalArgumentException("peer=" + address + ": expected an address, not a name");
        }
        ByteBuffer bytes = ByteBuffer.wrap(host.getAddress());
        if (bytes.remaining() == IPV4_BYTES) {
            set(0, MAPPED | Integer.toUnsignedLong(bytes.getInt()), address.getPort(), 0);
        } else {
            int scopeId = host instanceof Inet6Address ipv6 ? ipv6.getScopeId() : 0;
            set(bytes.getLong(), bytes.getLong(), address.getPort(), scopeId);
        }
    }

    /** Makes it the same as another one. */
    public void set(PeerAddress other) {
        set(other.high, other.low, other.port, other.scope);
    }

    /**
     * Changes it.
     *
     * @param newHigh first half of the address, big endian
     * @param newLow second half
     * @param newPort port
     * @param newScope scope of an address that needs one, else 0
     */
    public void set(long newHigh, long newLow, int newPort, int newScope) {
        high = newHigh;
        low = newLow;
        port = newPort;
        scope = newScope;
    }

    /** First half of the address, big endian. */
    public long high() {
        return high;
    }

    /** Second half of the address. */
    public long low() {
        return low;
    }

    /** The port. */
    public int port() {
        return port;
    }

    /** The interface of a link-local address; 0 if it needs none. */
    public int scope() {
        return scope;
    }

    /** True if it stands for an IPv4 address. */
    public boolean isIpv4() {
        return high == 0 && (low & MAPPED_MASK) == MAPPED;
    }

    /** True if both have the same address; ports may differ. */
    public boolean hasSameHost(PeerAddress other) {
        return low == other.low && high == other.high && scope == other.scope;
    }

    /** True if both have the same address and port. */
    public boolean isSame(PeerAddress other) {
        return port == other.port && hasSameHost(other);
    }

    /** The same as an object of the JDK, which is made. */
    public InetSocketAddress toSocketAddress() {
        try {
            InetAddress host;
            if (isIpv4()) {
                host = InetAddress.getByAddress(
                        ByteBuffer.allocate(IPV4_BYTES).putInt((int) low).array());
            } else {
                byte[] bytes = ByteBuffer.allocate(2 * Long.BYTES)
                        .putLong(high)
                        .putLong(low)
                        .array();
                host = scope == 0 ? InetAddress.getByAddress(bytes) : Inet6Address.getByAddress(null, bytes, scope);
            }
            return new InetSocketAddress(host, port);
        } catch (UnknownHostException e) { // only if the length were neither 4 nor 16
            throw new IllegalStateException(e);
        }
    }

    @Override
    public String toString() {
        return AddressText.of(toSocketAddress());
    }
}
