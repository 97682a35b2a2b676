package org.softrdma.sim.roce;

import java.net.Inet6Address;
import java.net.InetAddress;
import org.softrdma.net.transport.PeerAddress;
import org.softrdma.sim.roce.cm.CmPeer;
import org.softrdma.sim.roce.wire.Gid;
import org.softrdma.sim.roce.wire.Icrc;
import org.softrdma.sim.roce.wire.PseudoHeader;

/** From a port to a peer: the addresses that packets go to, and that their ICRC covers. */
final class RocePath {
    private final PeerAddress peer = new PeerAddress();
    private final byte[] here;
    private final int scope;
    private int localPort;
    private PseudoHeader out;

    /**
     * A path.
     *
     * @param local address of the port
     * @param localPort its UDP port
     * @param remote the peer, of the same version of IP
     * @param scope interface of the port, if its address is link-local; else 0
     */
    RocePath(Gid local, int localPort, CmPeer remote, int scope) {
        here = local.address().getAddress();
        this.localPort = localPort;
        this.scope = scope;
        out = lead(remote);
    }

    private PseudoHeader lead(CmPeer remote) {
        Gid to = remote.address();
        peer.set(to.high(), to.low(), remote.port(), to.address().isLinkLocalAddress() && !to.isIpv4() ? scope : 0);
        PseudoHeader made = new PseudoHeader(here, to.address().getAddress());
        made.ports(localPort, remote.port());
        return made;
    }

    /** From now on it leads to another peer, of the same version of IP. */
    void to(CmPeer remote) {
        out = lead(remote);
    }

    /** The interface of a link-local address; 0 of others. */
    static int scope(InetAddress address) {
        return address instanceof Inet6Address ipv6 && ipv6.isLinkLocalAddress() ? ipv6.getScopeId() : 0;
    }

    /** From now on packets leave another UDP port of this host. */
    void from(int newLocalPort) {
        localPort = newLocalPort;
        out.ports(localPort, peer.port());
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
}
