package org.softrdma.sim.roce;

import org.softrdma.sim.link.Agreement;

/**
 * What REQ and REP have agreed on.
 *
 * @param outboundReads READs and atomics that this side may have in flight
 * @param inboundReads READs and atomics that the peer may have in flight
 * @param transferUnit bytes of payload in a full packet
 */
record RoceAgreement(int outboundReads, int inboundReads, int transferUnit) implements Agreement {
    @Override
    public String description() {
        return "RoCEv2, reliable connection, transfer unit " + transferUnit;
    }
}
