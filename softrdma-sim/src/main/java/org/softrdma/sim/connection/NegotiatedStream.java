package org.softrdma.sim.connection;

import org.softrdma.sim.link.Agreement;

/**
 * What the handshake has agreed on.
 *
 * @param crc CRC32C is in use
 * @param revision MPA revision
 * @param peerToPeer the active side sends a ready-to-receive message first, then either side may speak
 * @param ord READs that this side may have in flight
 * @param ird READs that the peer may have in flight
 */
public record NegotiatedStream(boolean crc, int revision, boolean peerToPeer, int ord, int ird) implements Agreement {
    @Override
    public int outboundReads() {
        return ord;
    }

    @Override
    public int inboundReads() {
        return ird;
    }

    @Override
    public String description() {
        return "iWARP without markers, MPA revision " + revision + ", CRC " + (crc ? "on" : "off")
                + (peerToPeer ? ", peer-to-peer" : ", client-server");
    }
}
