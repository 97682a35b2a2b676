package org.softrdma.cli.store;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.util.Map;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreDesign;
import org.softrdma.testkit.KeptPorts;
import org.softrdma.verbs.Feature;

/** Devices on which a design runs. Stateless. */
final class DesignDevices {
    private DesignDevices() {}

    /** Options of devices on this host: of RoCEv2, at a port that nobody else has, for a design that needs datagrams. */
    static Map<String, String> options(StoreDesign design) {
        if (!design.needs(Protocol.SAFE).contains(Feature.UNRELIABLE_DATAGRAM)) {
            return Map.of();
        }
        InetAddress loopback = InetAddress.getLoopbackAddress();
        try {
            return Map.of(
                    "wire", "roce",
                    "roce-address", loopback.getHostAddress(),
                    "roce-port", Integer.toString(KeptPorts.nextUdp()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
