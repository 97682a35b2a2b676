package org.softrdma.sim.roce;

import java.net.InetSocketAddress;
import org.softrdma.sim.link.QueuePairEnd;
import org.softrdma.sim.roce.rc.RcSettings;
import org.softrdma.sim.roce.wire.AddressHeader;
import org.softrdma.sim.roce.wire.Bth;
import org.softrdma.sim.roce.wire.CmEndpoint;
import org.softrdma.sim.roce.wire.CmPath;
import org.softrdma.sim.roce.wire.ConnectRequest;
import org.softrdma.sim.roce.wire.Gid;
import org.softrdma.sim.roce.wire.PrivateData;
import org.softrdma.verbs.cm.ConnectionParameters;

/** What REQ and REP say, from settings and parameters, and back. */
final class Terms {
    /** Times of messages are 4.096 us x 2^t. */
    private static final long TIME_UNIT_NS = 4096;

    private static final int LONGEST_TIME = 31;
    private static final int CM_RETRIES = 15;
    private static final int LEAST_WINDOW = 4;
    /** 15 minutes (tcp_retries2, tcp(7)). */
    private static final long MANUAL_NS = 900_000_000_000L;

    /** Code of 256 bytes; each further one is twice as long. */
    private static final int LEAST_UNIT = 256;

    private static final int PACKET_RATE_10_GIGABIT = 3;
    private static final int HOP_LIMIT = 64;

    private Terms() {}

    /** t of the shortest time that is at least as long. */
    static int time(long ns) {
        int t = 0;
        while (t < LONGEST_TIME && TIME_UNIT_NS << t < ns) {
            t++;
        }
        return t;
    }

    /** The time of a code; 0 is for ever. */
    static long ns(int time) {
        return time == 0 ? 0 : TIME_UNIT_NS << time;
    }

    /** The code of a transfer unit. */
    static int code(int transferUnit) {
        return Integer.numberOfTrailingZeros(transferUnit / LEAST_UNIT) + 1;
    }

    /** The transfer unit of a code, 1 to 5. */
    static int transferUnit(int code) {
        return LEAST_UNIT << (code - 1);
    }

    static CmEndpoint endpoint(
            int number,
            int startingPsn,
            int inboundReads,
            int outboundReads,
            RoceSettings settings,
            QueuePairEnd queuePair,
            int heldPackets) {
        return new CmEndpoint(
                0,
                0,
                number,
                startingPsn,
                inboundReads,
                outboundReads,
                false,
                settings.rnrRetries(),
                queuePair.receiveQueue().isShared(),
                heldPackets,
                settings.manualProgress());
    }

    static ConnectRequest request(
            CmEndpoint endpoint,
            Gid here,
            Gid there,
            InetSocketAddress local,
            InetSocketAddress remote,
            RocePorts ports,
            byte[] data) {
        RoceSettings settings = ports.settings();
        int time = time(settings.timeoutNs());
        AddressHeader addresses = new AddressHeader(local.getPort(), here, there);
        return new ConnectRequest(
                endpoint,
                AddressHeader.serviceId(AddressHeader.PORT_SPACE_TCP, remote.getPort()),
                ConnectRequest.RELIABLE,
                settings.retries(),
                Bth.DEFAULT_PARTITION,
                code(ports.transferUnit(local.getAddress())),
                time,
                time,
                CM_RETRIES,
                new CmPath(here, there, 0, PACKET_RATE_10_GIGABIT, 0, HOP_LIMIT, time),
                addresses.with(PrivateData.of(data)));
    }

    /** Settings of two ends that have heard what each other can do. */
    static RcSettings settings(
            RocePort port, RoceSettings own, int transferUnit, ConnectionParameters parameters, CmEndpoint peers) {
        int inboundReads = Math.min(parameters.inboundReads(), peers.initiatorDepth());
        return settings(port, own, transferUnit, inboundReads, peers.heldPackets())
                .requesting(
                        Math.min(parameters.outboundReads(), peers.responderResources()),
                        own.timeoutNs(),
                        retries(own, peers.manualProgress()),
                        peers.rnrRetries());
    }

    /** Settings of an end that serves READs, and sends none yet; held packets are 0 if the peer has not said how many. */
    static RcSettings settings(
            RocePort port, RoceSettings own, int transferUnit, int inboundReads, int peersHeldPackets) {
        return new RcSettings(
                transferUnit,
                0,
                inboundReads,
                window(own, peersHeldPackets),
                port.readWindow(transferUnit),
                own.fixedWindow(),
                own.timeoutNs(),
                own.retries(),
                own.rnrRetries(),
                own.rnrTimer());
    }

    /** A peer in manual progress acknowledges when its owner drives it: it is waited for as long as TCP waits. */
    private static int retries(RoceSettings own, boolean manualProgress) {
        return manualProgress
                ? (int) Math.max(own.retries(), Math.min(MANUAL_NS / own.timeoutNs(), Integer.MAX_VALUE))
                : own.retries();
    }

    /** Packets of SENDs and WRITEs: no more than the peer's socket has room for, if it has said so. */
    private static int window(RoceSettings own, int peersHeldPackets) {
        return peersHeldPackets == 0 ? own.window() : Math.clamp(peersHeldPackets, LEAST_WINDOW, own.window());
    }
}
