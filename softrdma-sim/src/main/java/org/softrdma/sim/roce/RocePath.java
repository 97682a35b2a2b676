package org.softrdma.sim.roce;

import org.softrdma.sim.roce.cm.CmPeer;
import org.softrdma.sim.roce.wire.Gid;
import org.softrdma.sim.roce.wire.Icrc;
import org.softrdma.sim.roce.wire.PseudoHeader;
import org.softrdma.sim.roce.wire.RocePacket;
import org.softrdma.sim.transport.PeerAddress;

/** From a port to a peer and back: the addresses that packets go to and come from, and that their ICRC covers. */
final class RocePath {
    private final PeerAddress peer = new PeerAddress();
    private final PseudoHeader out;
    private final PseudoHeader in;
    private final int localPort;

    /**
     * A path.
     *
     * @param local address of the port
     * @param localPort its UDP port
     * @param remote the peer, of the same version of IP
     */
    RocePath(Gid local, int localPort, CmPeer remote) {
        this.localPort = localPort;
        byte[] here = local.address().getAddress();
        byte[] there = remote.address().address().getAddress();
        peer.set(remote.address().high(), remote.address().low(), remote.port(), 0);
        out = new PseudoHeader(here, there);
        out.ports(localPort, remote.port());
        in = new PseudoHeader(there, here);
    }

    /** Where packets go. */
    PeerAddress peer() {
        return peer;
    }

    /**
     * The ICRC of a packet that is sent.
     *
     * @param icrc computes it
     * @param memory that the packet is in
     * @param packet where the BTH is
     * @param length its bytes, with the ICRC
     * @param place in its train, which over IPv4 is the identification
     */
    int seal(Icrc icrc, PacketMemory memory, long packet, int length, int place) {
        if (out.isIpv4()) {
            out.identification(place);
        }
        return icrc.compute(out, memory.view(), memory.address(), packet, length);
    }

    /**
     * True if the ICRC of a received packet is right.
     *
     * @param icrc computes it
     * @param memory that the packet is in
     * @param packet where the BTH is
     * @param length its bytes, with the ICRC
     * @param place in the train as which it came; trains of software RNICs have it as the identification
     * @param fromPort UDP port that it came from
     */
    boolean isIntact(Icrc icrc, PacketMemory memory, long packet, int length, int place, int fromPort) {
        in.ports(fromPort, localPort);
        if (in.isIpv4()) {
            in.identification(place);
        }
        int came = RocePacket.icrc(packet, length);
        int computed = icrc.compute(in, memory.view(), memory.address(), packet, length);
        if (came == computed) {
            return true;
        }
        if (!in.isIpv4()) {
            return false;
        }
        if (place != 0) {
            in.identification(0);
            computed = icrc.compute(in, memory.view(), memory.address(), packet, length);
        }
        return Icrc.identification(came, computed, length) != Icrc.NONE;
    }
}
