package org.softrdma.sim.roce;

import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/**
 * Settings of RoCEv2.
 *
 * @param address of queue pairs that no connection manager connects; null for the one that leads to other hosts
 * @param port UDP port where peers find this device
 * @param peerPort UDP port of those that it connects to
 * @param transferUnit most bytes of payload in a packet: 1024, 2048 or 4096; 0 for what the network allows
 * @param timeoutNs after so long without progress, or sooner, the oldest packet is sent again
 * @param retries how often in a row without progress, 0 to 7
 * @param rnrRetries how often in a row a peer may say that it is not ready, 0 to 6; 7 is for ever
 * @param rnrTimer code of the time that this side asks a peer to wait for
 * @param window packets of SENDs and WRITEs that may be unacknowledged on a connection
 * @param fixedWindow so many always, whatever is lost
 * @param manualProgress the device's owner drives it
 */
public record RoceSettings(
        @Nullable InetAddress address,
        int port,
        int peerPort,
        int transferUnit,
        long timeoutNs,
        int retries,
        int rnrRetries,
        int rnrTimer,
        int window,
        boolean fixedWindow,
        boolean manualProgress) {
    /** Least payload of a full packet that the connection manager agrees on: a message of 2^31 bytes must not take half of all PSNs. */
    public static final int LEAST_TRANSFER_UNIT = 1024;
}
