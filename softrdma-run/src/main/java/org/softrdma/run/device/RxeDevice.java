package org.softrdma.run.device;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * A SoftRoCE device. Its name begins with {@code rxe}, by which rdma-core chooses the driver. The table of GIDs has all addresses of the
 * network namespace, in the order in which Linux makes them for an interface; those of loopback are the last ones, and on a machine
 * without a network the only ones.
 *
 * @param name of the device
 * @param guid its number, as the eight bytes read
 * @param transferUnit bytes of payload in a packet: 256, 512, 1024, 2048 or 4096
 * @param gids the table, at least one
 */
public record RxeDevice(String name, long guid, int transferUnit, List<GidEntry> gids) {
    private static final String NAME = "rxe0";
    private static final int LEAST_UNIT = 256;
    private static final int LARGEST_UNIT = 4096;
    /** Bytes of a packet that are not payload, as SoftRoCE counts them: its longest headers. */
    private static final int HEADERS = 80;

    /** The first bytes of a GUID that is made from an address; the last four are the end of the address. */
    private static final long GUID_PREFIX = 0x0250_FFFEL << Integer.SIZE;

    private static final long ADDRESS_MASK = 0xFFFF_FFFFL;

    /** Keeps the list. */
    public RxeDevice {
        gids = List.copyOf(gids);
    }

    /** The device of this network namespace. */
    public static RxeDevice ofThisHost() throws SocketException {
        List<Found> found = new ArrayList<>();
        for (NetworkInterface each : NetworkInterface.networkInterfaces().toList()) {
            if (each.isUp()) {
                each.inetAddresses().forEach(address -> found.add(new Found(address, each.getName())));
            }
        }
        found.sort(Comparator.comparingInt(Found::rank));
        List<GidEntry> gids = new ArrayList<>(found.stream()
                .map(each -> new GidEntry(each.address(), each.interfaceName()))
                .toList());
        if (gids.isEmpty()) {
            gids.add(new GidEntry(InetAddress.getLoopbackAddress(), "lo"));
        }
        return of(gids, frameLength(gids.getFirst()));
    }

    /**
     * The device of some addresses.
     *
     * @param gids of this host, the preferred one first
     * @param frameLength bytes of the longest packet of their network
     */
    public static RxeDevice of(List<GidEntry> gids, int frameLength) {
        long guid = GUID_PREFIX | (gids.getFirst().gid().low() & ADDRESS_MASK);
        return new RxeDevice(NAME, guid, transferUnit(frameLength), gids);
    }

    /** The largest unit that fits into a packet. */
    private static int transferUnit(int frameLength) {
        int room = Math.clamp((long) frameLength - HEADERS, LEAST_UNIT, LARGEST_UNIT);
        return Integer.highestOneBit(room);
    }

    private static int frameLength(GidEntry gid) throws SocketException {
        NetworkInterface of = NetworkInterface.getByInetAddress(gid.address());
        return of == null ? LARGEST_UNIT : of.getMTU();
    }

    private record Found(InetAddress address, String interfaceName) {
        int rank() {
            int loopback = address.isLoopbackAddress() ? 3 : 0;
            return loopback + (address.isLinkLocalAddress() ? 0 : address instanceof Inet4Address ? 1 : 2);
        }
    }

    /** The address that a queue pair has at first: one that other hosts can reach, if there is one. */
    public InetAddress ownAddress() {
        return gids.stream()
                .map(GidEntry::address)
                .filter(address -> !address.isLinkLocalAddress())
                .findFirst()
                .orElse(gids.getFirst().address());
    }

    /** The unit as verbs number it: 1 for 256 bytes to 5 for 4096. */
    public int transferUnitCode() {
        return Integer.numberOfTrailingZeros(transferUnit / LEAST_UNIT) + 1;
    }

    /** The largest unit of any device, in the same way. */
    public static int largestTransferUnitCode() {
        return Integer.numberOfTrailingZeros(LARGEST_UNIT / LEAST_UNIT) + 1;
    }
}
