package org.softrdma.run.rdmacm;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.DatagramChannel;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import org.softrdma.run.device.GidEntry;
import org.softrdma.run.device.RxeDevice;

/** Addresses of this host, as the device has them. */
final class HostAddresses {
    private final RxeDevice device;

    HostAddresses(RxeDevice device) {
        this.device = device;
    }

    /** The device's number, as eight bytes big endian. */
    long guid() {
        return device.guid();
    }

    /** Its transfer unit as verbs number it. */
    int unitCode() {
        return device.transferUnitCode();
    }

    /** Where an address is in the table of GIDs; empty if it is not of this host. */
    OptionalInt index(InetAddress address) {
        List<GidEntry> gids = device.gids();
        return IntStream.range(0, gids.size())
                .filter(i -> gids.get(i).address().equals(address))
                .findFirst();
    }

    /** Those that an address stands for: itself, or all of its family if it is the wildcard, and of both if that of IPv6. */
    List<InetAddress> all(InetAddress address, boolean ownFamilyOnly) {
        if (!address.isAnyLocalAddress()) {
            return List.of(address);
        }
        boolean both = address.getAddress().length > Integer.BYTES && !ownFamilyOnly;
        return device.gids().stream()
                .map(GidEntry::address)
                .filter(each -> both || each.getClass().equals(address.getClass()))
                .toList();
    }

    /**
     * The address from which packets to a peer go. Nothing is sent.
     *
     * @throws IOException if there is no way
     */
    static InetAddress towards(InetSocketAddress peer) throws IOException {
        try (DatagramChannel channel = DatagramChannel.open()) {
            return channel.connect(new InetSocketAddress(peer.getAddress(), Math.max(1, peer.getPort())))
                                    .getLocalAddress()
                            instanceof InetSocketAddress local
                    ? local.getAddress()
                    : InetAddress.getLoopbackAddress();
        }
    }
}
