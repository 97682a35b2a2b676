package org.softrdma.sim.roce;

import java.net.InetAddress;
import org.softrdma.net.transport.PeerAddress;
import org.softrdma.sim.roce.wire.Gid;
import org.softrdma.sim.roce.wire.Icrc;
import org.softrdma.sim.roce.wire.PseudoHeader;
import org.softrdma.sim.roce.wire.RocePacket;

/**
 * The packet that is being received at a port: who has sent it, and what the headers below it were, as far as the ICRC
 * tells. One for each port; made for no packet. Engine thread only.
 */
final class Arrival {
    private final PseudoHeader header;
    private final Gid local;
    private final int localPort;
    private PeerAddress from = new PeerAddress();
    private int identification;

    /**
     * At a port.
     *
     * @param local its address
     * @param localPort its UDP port
     */
    Arrival(InetAddress local, int localPort) {
        this.localPort = localPort;
        this.local = Gid.of(local);
        header = new PseudoHeader(local.getAddress(), local.getAddress());
    }

    /** The address at which it has arrived. */
    Gid local() {
        return local;
    }

    /** Who has sent it; only until the next one. */
    PeerAddress from() {
        return from;
    }

    /** The identification of its IPv4 header. */
    int identification() {
        return identification;
    }

    /**
     * True if the ICRC is right.
     *
     * @param icrc computes it
     * @param memory that the packet is in
     * @param packet where the BTH is
     * @param length its bytes, with the ICRC
     * @param place in the train as which it came; trains of software RNICs have it as the identification
     * @param sender of the same version of IP as the port
     */
    boolean isIntact(Icrc icrc, PacketMemory memory, long packet, int length, int place, PeerAddress sender) {
        from = sender;
        header.source(sender.high(), sender.low());
        header.ports(sender.port(), localPort);
        int came = RocePacket.icrc(packet, length);
        int computed = compute(icrc, memory, packet, length, place);
        identification = place;
        if (came == computed) {
            return true;
        }
        if (!header.isIpv4()) {
            return false;
        }
        identification =
                Icrc.identification(came, place == 0 ? computed : compute(icrc, memory, packet, length, 0), length);
        return identification != Icrc.NONE;
    }

    private int compute(Icrc icrc, PacketMemory memory, long packet, int length, int itsIdentification) {
        if (header.isIpv4()) {
            header.identification(itsIdentification);
        }
        return icrc.compute(header, memory.view(), memory.address(), packet, length);
    }
}
