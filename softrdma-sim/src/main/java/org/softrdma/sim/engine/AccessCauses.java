package org.softrdma.sim.engine;

import org.softrdma.sim.memory.AccessResult;
import org.softrdma.sim.wire.TerminateCause;

/** Which Terminate answers a refused access. DDP has no code for a missing right: "invalid STag" is said, as siw does. */
final class AccessCauses {
    private AccessCauses() {}

    /** For a tagged segment (RFC 5041 section 7.2). */
    static TerminateCause tagged(AccessResult result) {
        return switch (result) {
            case WRONG_DOMAIN -> TerminateCause.DDP_STAG_NOT_ON_STREAM;
            case OUT_OF_BOUNDS -> TerminateCause.DDP_BOUNDS;
            case ADDRESS_WRAP -> TerminateCause.DDP_WRAP;
            case INVALID_STAG, NO_RIGHT, GRANTED -> TerminateCause.DDP_INVALID_STAG;
        };
    }

    /** For a READ request (RFC 5040 figure 9). */
    static TerminateCause readRequest(AccessResult result) {
        return switch (result) {
            case WRONG_DOMAIN -> TerminateCause.RDMAP_STAG_NOT_ON_STREAM;
            case OUT_OF_BOUNDS -> TerminateCause.RDMAP_BOUNDS;
            case ADDRESS_WRAP -> TerminateCause.RDMAP_WRAP;
            case NO_RIGHT -> TerminateCause.RDMAP_ACCESS_RIGHTS;
            case INVALID_STAG, GRANTED -> TerminateCause.RDMAP_INVALID_STAG;
        };
    }
}
