package org.softrdma.sim.roce;

import org.softrdma.sim.link.Agreement;
import org.softrdma.sim.roce.rc.RcSettings;
import org.softrdma.verbs.QueuePairType;

/**
 * What both ends have agreed on, by REQ and REP or by the application.
 *
 * @param type of the queue pair
 * @param outboundReads READs and atomics that this side may have in flight
 * @param inboundReads READs and atomics that the peer may have in flight
 * @param transferUnit bytes of payload in a full packet
 */
record RoceAgreement(QueuePairType type, int outboundReads, int inboundReads, int transferUnit) implements Agreement {
    /** Of a reliable connection. */
    static RoceAgreement of(RcSettings settings) {
        return new RoceAgreement(
                QueuePairType.RELIABLE_CONNECTION,
                settings.outboundReads(),
                settings.inboundReads(),
                settings.transferUnit());
    }

    @Override
    public String description() {
        String kind = switch (type) {
            case RELIABLE_CONNECTION -> "reliable connection";
            case UNRELIABLE_CONNECTION -> "unreliable connection";
            case UNRELIABLE_DATAGRAM -> "datagrams";
        };
        return "RoCEv2, " + kind + ", transfer unit " + transferUnit;
    }
}
