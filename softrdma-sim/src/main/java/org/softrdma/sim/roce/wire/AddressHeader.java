package org.softrdma.sim.roce.wire;

import java.nio.ByteBuffer;

/**
 * The IP addressing annex of rdma_cm, with which the private data of a REQ and of a SIDR_REQ begins (annex A11). Big
 * endian; the active side writes every field. An IPv4 address stands behind 12 zero bytes.
 *
 * <pre>
 *   31            24 23   20 19   16 15                             0
 *   +---------------+-------+-------+-------------------------------+
 *   |  version: 0   | IP: 4, 6 | 0  |  source port                  |  0
 *   |  source address, 16 bytes                                     |  4
 *   |  destination address, 16 bytes                                |  20
 *   +---------------------------------------------------------------+  36
 * </pre>
 *
 * @param sourcePort the active side's port
 * @param source the active side's address
 * @param destination the passive side's address, of the same family
 */
public record AddressHeader(int sourcePort, Gid source, Gid destination) {
    /** Bytes of the header. */
    public static final int LENGTH = Integer.BYTES + 2 * Gid.LENGTH;
    /** The ports of connections. */
    public static final int PORT_SPACE_TCP = 0x0106;
    /** The ports of datagrams. */
    public static final int PORT_SPACE_UDP = 0x0111;
    /** The queue key of datagrams, unless an application says otherwise. */
    public static final int UDP_QUEUE_KEY = 0x0123_4567;

    private static final int VERSION_SHIFT = 24;
    private static final int IP_SHIFT = 20;
    private static final int IP_MASK = 0xF;
    private static final int IPV4 = 4;
    private static final int IPV6 = 6;
    private static final int PORT_MASK = 0xFFFF;
    private static final long IPV4_MASK = 0xFFFF_FFFFL;

    /** The service id of a port in a port space. */
    public static long serviceId(int portSpace, int port) {
        return (long) portSpace << Short.SIZE | port;
    }

    /** The port of a service id. */
    public static int port(long serviceId) {
        return (int) serviceId & PORT_MASK;
    }

    /** The port space of a service id; any other bits belong to no port space. */
    public static long portSpace(long serviceId) {
        return serviceId >>> Short.SIZE;
    }

    /** True if private data begins with such a header. */
    public static boolean isIn(PrivateData data) {
        if (data.length() < LENGTH) {
            return false;
        }
        int word = ByteBuffer.wrap(data.bytes()).getInt();
        int ip = word >>> IP_SHIFT & IP_MASK;
        return word >>> VERSION_SHIFT == 0 && (ip == IPV4 || ip == IPV6);
    }

    /** Reads the header of private data that begins with one. */
    public static AddressHeader read(PrivateData data) {
        ByteBuffer bytes = ByteBuffer.wrap(data.bytes());
        int word = bytes.getInt();
        boolean ipv4 = (word >>> IP_SHIFT & IP_MASK) == IPV4;
        return new AddressHeader(word & PORT_MASK, gid(bytes, ipv4), gid(bytes, ipv4));
    }

    private static Gid gid(ByteBuffer bytes, boolean ipv4) {
        Gid read = new Gid(bytes.getLong(), bytes.getLong());
        return ipv4 ? Gid.ofIpv4((int) read.low()) : read;
    }

    /** The header, and an application's bytes behind it. */
    public PrivateData with(PrivateData application) {
        ByteBuffer bytes = ByteBuffer.allocate(LENGTH + application.length());
        boolean ipv4 = source.isIpv4();
        bytes.putInt((ipv4 ? IPV4 : IPV6) << IP_SHIFT | sourcePort);
        put(bytes, source, ipv4);
        put(bytes, destination, ipv4);
        return PrivateData.of(bytes.put(application.bytes()).array());
    }

    private static void put(ByteBuffer bytes, Gid gid, boolean ipv4) {
        bytes.putLong(gid.high()).putLong(ipv4 ? gid.low() & IPV4_MASK : gid.low());
    }
}
