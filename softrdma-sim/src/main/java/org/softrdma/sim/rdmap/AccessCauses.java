package org.softrdma.sim.rdmap;

import org.softrdma.sim.memory.AccessResult;
import org.softrdma.sim.wire.TerminateCause;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.SendOpcode;

/**
 * The Terminate that answers a refused access, and the status of a READ that a Terminate refers to. DDP has no code for
 * a missing right: "invalid STag" is sent, as siw does.
 */
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

    /**
     * Status of a READ that the peer has terminated (RFC 5040 figure 9): a protection error is an access error; a
     * catastrophic error of the peer is not the request's fault; everything else is.
     *
     * @param code layer, type and code of the Terminate
     */
    static CompletionStatus status(int code) {
        if (code >>> Byte.SIZE == TerminateCause.RDMAP_BOUNDS.code() >>> Byte.SIZE) {
            return CompletionStatus.REMOTE_ACCESS_ERROR;
        }
        TerminateCause cause = TerminateCause.ofCode(code);
        if (cause == null) {
            return CompletionStatus.REMOTE_INVALID_REQUEST_ERROR;
        }
        return switch (cause) {
            case LOCAL_CATASTROPHIC, RDMAP_STREAM_CATASTROPHIC, RDMAP_GLOBAL_CATASTROPHIC, DDP_LOCAL_CATASTROPHIC ->
                CompletionStatus.REMOTE_OPERATION_ERROR;
            default -> CompletionStatus.REMOTE_INVALID_REQUEST_ERROR;
        };
    }

    /**
     * Status of a request that the peer has terminated. A peer calls a misaligned atomic a catastrophic error of the
     * stream (RFC 7306 section 8.2), but it is the request's fault.
     *
     * @param code layer, type and code of the Terminate
     * @param request what it was
     */
    static CompletionStatus status(int code, SendOpcode request) {
        return request.isAtomic() && code == TerminateCause.RDMAP_STREAM_CATASTROPHIC.code()
                ? CompletionStatus.REMOTE_INVALID_REQUEST_ERROR
                : status(code);
    }

    /** For a READ request or an Atomic Request (RFC 5040 figure 9). */
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
