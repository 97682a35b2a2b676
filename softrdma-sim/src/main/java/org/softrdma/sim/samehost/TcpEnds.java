package org.softrdma.sim.samehost;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/**
 * The two ends of a TCP connection, addresses as 16 bytes (IPv4 as {@code ::ffff:a.b.c.d}).
 *
 * @param clientHigh first half of the address of the end that connected
 * @param clientLow second half
 * @param clientPort its port
 * @param serverHigh first half of the address of the end that accepted
 * @param serverLow second half
 * @param serverPort its port
 */
record TcpEnds(long clientHigh, long clientLow, int clientPort, long serverHigh, long serverLow, int serverPort) {
    private static final long V4_MAPPED = 0xFFFFL << Integer.SIZE;

    static TcpEnds of(InetSocketAddress client, InetSocketAddress server) {
        return new TcpEnds(
                high(client.getAddress()),
                low(client.getAddress()),
                client.getPort(),
                high(server.getAddress()),
                low(server.getAddress()),
                server.getPort());
    }

    private static long high(InetAddress address) {
        return address instanceof Inet4Address
                ? 0
                : ByteBuffer.wrap(address.getAddress()).getLong();
    }

    private static long low(InetAddress address) {
        ByteBuffer bytes = ByteBuffer.wrap(address.getAddress());
        return address instanceof Inet4Address
                ? V4_MAPPED | Integer.toUnsignedLong(bytes.getInt())
                : bytes.getLong(Long.BYTES);
    }

    /** Both ends are on this host, as far as their addresses tell. */
    static boolean mayBeHere(InetSocketAddress local, InetSocketAddress remote) {
        InetAddress here = local.getAddress();
        InetAddress there = remote.getAddress();
        return here != null
                && there != null
                && (here.equals(there) || (here.isLoopbackAddress() && there.isLoopbackAddress()));
    }

    void put(ByteBuffer to) {
        to.putLong(clientHigh).putLong(clientLow).putInt(clientPort);
        to.putLong(serverHigh).putLong(serverLow).putInt(serverPort);
    }

    static TcpEnds get(ByteBuffer from) {
        return new TcpEnds(
                from.getLong(), from.getLong(), from.getInt(), from.getLong(), from.getLong(), from.getInt());
    }
}
