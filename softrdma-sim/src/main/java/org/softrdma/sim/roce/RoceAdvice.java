package org.softrdma.sim.roce;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.Optional;
import org.softrdma.net.kernel.UdpEnvironment;
import org.softrdma.net.transport.SocketOptions;
import org.softrdma.sim.roce.wire.RocePacket;

/** What stands in the way of RoCEv2 on this machine, each in a sentence that says what to do. Any thread. */
public final class RoceAdvice {
    private static final String CHOOSE = "choose another roce-port, here and at the peers";

    private final UdpEnvironment environment;

    /**
     * Of a machine.
     *
     * @param environment of its UDP sockets
     */
    public RoceAdvice(UdpEnvironment environment) {
        this.environment = environment;
    }

    /** That of this machine. */
    public static RoceAdvice ofThisMachine() {
        return new RoceAdvice(UdpEnvironment.ofThisMachine());
    }

    /** If sockets have less room for what arrives than they ask for. */
    public Optional<String> smallBuffer() {
        return environment
                .mostReceiveBuffer()
                .filter(most -> most < SocketOptions.DATAGRAM_RECEIVE_BUFFER)
                .map(most -> "net.core.rmem_max=" + most
                        + " is little room for packets of RoCEv2: bursts are lost (counter roce.socketDropped) and sent"
                        + " again; sysctl -w net.core.rmem_max=" + SocketOptions.DATAGRAM_RECEIVE_BUFFER
                        + " makes room");
    }

    /** If somebody has the UDP port of RoCEv2. */
    public Optional<String> takenPort() {
        return environment.isTaken(RocePacket.UDP_PORT)
                ? Optional.of("UDP port " + RocePacket.UDP_PORT
                        + " is taken by another process, or by SoftRoCE in the kernel: " + CHOOSE)
                : Optional.empty();
    }

    /**
     * If a card answers at an address in this process's place.
     *
     * @param local the address
     * @param port UDP port at it
     */
    Optional<String> card(InetAddress local, int port) {
        if (port != RocePacket.UDP_PORT) {
            return Optional.empty();
        }
        try {
            NetworkInterface network = NetworkInterface.getByInetAddress(local);
            return network == null ? Optional.empty() : card(network.getName());
        } catch (SocketException e) {
            return Optional.empty();
        }
    }

    /** As that, by the name of the interface. */
    Optional<String> card(String network) {
        return environment
                .rdmaDevice(network)
                .map(device -> "the RDMA device " + device + " takes packets to UDP port " + RocePacket.UDP_PORT
                        + " of " + network + " before this process sees them: " + CHOOSE
                        + ", or use the provider rdmacore");
    }
}
