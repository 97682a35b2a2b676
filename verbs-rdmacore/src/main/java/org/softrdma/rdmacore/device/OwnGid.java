package org.softrdma.rdmacore.device;

import java.lang.foreign.Arena;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.softrdma.ibverbs.RdmaSubsystem;
import org.softrdma.ibverbs.SocketAddressText;
import org.softrdma.rdmacore.abi.CMemory;
import org.softrdma.rdmacore.abi.VerbsAbi;
import org.softrdma.rdmacore.abi.VerbsLibrary;
import org.softrdma.verbs.QueuePairAddress;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/**
 * The entry of a RoCE port's table of GIDs that queue pairs without an id send from: RoCE version 2, the address of the
 * option {@code address} if it is set, else IPv4 before global IPv6 before a link-local address. Immutable.
 *
 * @param index in the table
 * @param host the address that it stands for
 */
record OwnGid(int index, InetAddress host) {
    /** The port of a device that is used; devices with several are not told apart. */
    static final int PORT = 1;

    private static final int HOP_LIMIT = 64;
    private static final int MAPPED_PREFIX = 10;

    /**
     * Finds it.
     *
     * @param library C functions
     * @param context of the device
     * @param device its name
     * @param wanted of the option; empty if it is not set
     * @throws VerbsException {@code ADDRESS_NOT_AVAILABLE} if there is none
     */
    static OwnGid find(VerbsLibrary library, long context, String device, Optional<InetSocketAddress> wanted) {
        OwnGid best = null;
        try (Arena arena = Arena.ofConfined()) {
            long port = arena.allocate(VerbsAbi.PORT_ATTRIBUTES).address();
            int errno = library.queryPort(context, PORT, port);
            if (errno != 0) {
                throw NativeErrors.failed("ibv_query_port", errno, "port " + PORT + " of " + device);
            }
            int length = CMemory.getInt(port + VerbsAbi.GID_TABLE_LENGTH);
            for (int i = 0; i < length && (best == null || best.rank(wanted) > 0); i++) {
                OwnGid next = read(library, context, i, arena);
                if (next != null
                        && next.rank(wanted) < (best == null ? Integer.MAX_VALUE : best.rank(wanted))
                        && RdmaSubsystem.ofThisMachine().isRoceVersion2(device, PORT, i)) {
                    best = next;
                }
            }
        }
        if (best == null) {
            throw new VerbsException(
                    VerbsErrorCode.ADDRESS_NOT_AVAILABLE,
                    device + " has no GID of "
                            + wanted.map(SocketAddressText::of).orElse("an IP address")
                            + " for RoCE version 2: give its network interface that address, or set the option address"
                            + " to one that it has (ip address, rdma link, ibv_devinfo -v)");
        }
        return best;
    }

    private static @Nullable OwnGid read(VerbsLibrary library, long context, int index, Arena arena) {
        long gid = arena.allocate(VerbsAbi.GID_BYTES, Long.BYTES).address();
        boolean known = library.queryGid(context, PORT, index, gid) == 0;
        return known && (CMemory.getLong(gid) | CMemory.getLong(gid + Long.BYTES)) != 0
                ? new OwnGid(index, host(CMemory.getBytes(gid, VerbsAbi.GID_BYTES)))
                : null;
    }

    private static InetAddress host(byte[] gid) {
        try {
            return InetAddress.getByAddress(gid); // that of IPv4 if the GID is mapped
        } catch (UnknownHostException e) {
            throw new IllegalStateException("an address of " + gid.length + " bytes", e);
        }
    }

    /** The lower, the better; {@link Integer#MAX_VALUE} if it is not the one that is wanted. */
    private int rank(Optional<InetSocketAddress> wanted) {
        if (wanted.isPresent()) {
            return sameBytes(wanted.get().getAddress()) ? 0 : Integer.MAX_VALUE;
        }
        return host instanceof Inet4Address ? 0 : host.isLinkLocalAddress() ? 2 : 1;
    }

    /** The scope of a link-local address is not part of a GID. */
    private boolean sameBytes(InetAddress other) {
        return java.util.Arrays.equals(other.getAddress(), host.getAddress());
    }

    /** As peers name it. */
    InetSocketAddress address() {
        return new InetSocketAddress(host, QueuePairAddress.PORT);
    }

    /**
     * Writes the way from here to a peer.
     *
     * @param handle zeroed {@code ibv_ah_attr}
     * @param peer resolved
     * @throws IllegalArgumentException if it is of another family
     * @throws VerbsException {@code NOT_SUPPORTED} if its port is not RoCE's
     */
    void writeWay(long handle, InetSocketAddress peer) {
        InetAddress to = peer.getAddress();
        if (to instanceof Inet6Address != host instanceof Inet6Address) {
            throw new IllegalArgumentException("peer " + SocketAddressText.of(peer)
                    + ": expected an address of the family of this device's, " + host.getHostAddress()
                    + "; open the device with the option address and its address of the other family");
        }
        if (peer.getPort() != QueuePairAddress.PORT) {
            throw new VerbsException(
                    VerbsErrorCode.NOT_SUPPORTED,
                    "peer " + SocketAddressText.of(peer) + ": kernels and cards send to port " + QueuePairAddress.PORT
                            + " only");
        }
        CMemory.putBytes(handle + VerbsAbi.HANDLE_GID, gid(to));
        CMemory.putByte(handle + VerbsAbi.HANDLE_OWN_GID_INDEX, (byte) index);
        CMemory.putByte(handle + VerbsAbi.HANDLE_HOP_LIMIT, (byte) HOP_LIMIT);
        CMemory.putByte(handle + VerbsAbi.HANDLE_IS_GLOBAL, (byte) 1);
        CMemory.putByte(handle + VerbsAbi.HANDLE_PORT, (byte) PORT);
    }

    private static byte[] gid(InetAddress of) {
        byte[] address = of.getAddress();
        if (address.length == VerbsAbi.GID_BYTES) {
            return address;
        }
        byte[] gid = new byte[VerbsAbi.GID_BYTES];
        gid[MAPPED_PREFIX] = -1;
        gid[MAPPED_PREFIX + 1] = -1;
        System.arraycopy(address, 0, gid, MAPPED_PREFIX + 2, address.length);
        return gid;
    }
}
