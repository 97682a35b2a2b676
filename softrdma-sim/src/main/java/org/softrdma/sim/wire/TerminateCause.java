package org.softrdma.sim.wire;

import org.jspecify.annotations.Nullable;

/**
 * Why a stream is terminated: layer, error type and error code of a Terminate message (RFC 5040 figure 9, RFC 5041
 * section 7.2, RFC 5044 section 8, RFC 6581 section 8). All of them are understood; docs/reference/wire.md says which
 * are sent, and when.
 */
public enum TerminateCause {
    /** Something failed on the terminating side itself; any error code is allowed. */
    LOCAL_CATASTROPHIC(0, 0, 0, "local catastrophic error"),
    /** READ request: no such source STag. */
    RDMAP_INVALID_STAG(0, 1, 0, "invalid STag"),
    /** READ request: outside the source. */
    RDMAP_BOUNDS(0, 1, 1, "base or bounds violation"),
    /** READ request: the source may not be read. */
    RDMAP_ACCESS_RIGHTS(0, 1, 2, "access rights violation"),
    /** READ request: the source belongs to another protection domain. */
    RDMAP_STAG_NOT_ON_STREAM(0, 1, 3, "STag not associated with the RDMAP stream"),
    /** READ request: tagged offset plus length wraps. */
    RDMAP_WRAP(0, 1, 4, "tagged offset wrap"),
    /** SEND with Invalidate of an STag that may not be invalidated. */
    RDMAP_CANNOT_INVALIDATE(0, 1, 9, "STag cannot be invalidated"),
    /** A peer's remote protection error without a code of its own. */
    RDMAP_UNSPECIFIED_PROTECTION(0, 1, 0xFF, "unspecified remote protection error"),
    /** The RDMAP version is not 1. */
    RDMAP_VERSION(0, 2, 5, "invalid RDMAP version"),
    /** An opcode that is unknown or unexpected here. */
    RDMAP_OPCODE(0, 2, 6, "unexpected opcode"),
    /** The stream cannot continue, for example because a RECV has a bad buffer. */
    RDMAP_STREAM_CATASTROPHIC(0, 2, 7, "catastrophic error, localized to the RDMAP stream"),
    /** The peer's RDMAP cannot continue any of its streams. */
    RDMAP_GLOBAL_CATASTROPHIC(0, 2, 8, "catastrophic error, global"),
    /** As {@link #RDMAP_CANNOT_INVALIDATE}, which RFC 5040 figure 9 lists twice: peers may send either. */
    RDMAP_OPERATION_CANNOT_INVALIDATE(0, 2, 9, "STag cannot be invalidated"),
    /** An error in a message that has no code of its own. */
    RDMAP_UNSPECIFIED(0, 2, 0xFF, "unspecified remote operation error"),
    /** Something failed in the peer's DDP. */
    DDP_LOCAL_CATASTROPHIC(1, 0, 0, "DDP: local catastrophic error"),
    /** Tagged segment: no such STag, or it lacks the right (DDP has no code for rights). */
    DDP_INVALID_STAG(1, 1, 0, "tagged buffer: invalid STag"),
    /** Tagged segment: outside the buffer. */
    DDP_BOUNDS(1, 1, 1, "tagged buffer: base or bounds violation"),
    /** Tagged segment: the buffer belongs to another protection domain. */
    DDP_STAG_NOT_ON_STREAM(1, 1, 2, "tagged buffer: STag not associated with the DDP stream"),
    /** Tagged segment: tagged offset plus length wraps. */
    DDP_WRAP(1, 1, 3, "tagged buffer: tagged offset wrap"),
    /** Tagged segment: the DDP version is not 1. */
    DDP_TAGGED_VERSION(1, 1, 4, "tagged buffer: invalid DDP version"),
    /** Untagged segment: no such queue. */
    DDP_QUEUE_NUMBER(1, 2, 1, "untagged buffer: invalid queue number"),
    /** Untagged segment: no RECV, or more READ requests than granted. */
    DDP_NO_BUFFER(1, 2, 2, "untagged buffer: no buffer available"),
    /** Untagged segment: not the next message. */
    DDP_MSN_RANGE(1, 2, 3, "untagged buffer: message sequence number out of range"),
    /** Untagged segment: not the next part of its message. */
    DDP_MESSAGE_OFFSET(1, 2, 4, "untagged buffer: invalid message offset"),
    /** Untagged segment: the message is longer than its RECV. */
    DDP_TOO_LONG(1, 2, 5, "untagged buffer: message too long for the buffer"),
    /** Untagged segment: the DDP version is not 1. */
    DDP_UNTAGGED_VERSION(1, 2, 6, "untagged buffer: invalid DDP version"),
    /** The TCP connection was lost, as the peer's MPA tells its upper layers. */
    MPA_CONNECTION_LOST(2, 0, 1, "MPA: TCP connection closed, terminated or lost"),
    /** FPDU: the CRC is wrong. */
    MPA_CRC(2, 0, 2, "MPA: CRC error"),
    /** Marker and ULPDU length disagree; never about this side, which sends no markers. */
    MPA_MARKER(2, 0, 3, "MPA: marker and ULPDU length do not agree"),
    /** The peer rejected a handshake frame as invalid. */
    MPA_INVALID_FRAME(2, 0, 4, "MPA: invalid request or reply frame"),
    /** The handshake failed for a reason without a code of its own. */
    MPA_LOCAL_CATASTROPHIC(2, 0, 5, "MPA: local catastrophic error"),
    /** The granted number of READs is too small. */
    MPA_INSUFFICIENT_IRD(2, 0, 6, "MPA: insufficient IRD resources"),
    /** The two ends have no ready-to-receive frame in common. */
    MPA_NO_MATCHING_RTR(2, 0, 7, "MPA: no matching RTR option");

    /** The layer below DDP, which is MPA here. */
    private static final int LLP = 2;

    private final int layer;
    private final int errorType;
    private final int errorCode;
    private final String text;

    TerminateCause(int layer, int errorType, int errorCode, String text) {
        this.layer = layer;
        this.errorType = errorType;
        this.errorCode = errorCode;
        this.text = text;
    }

    /** The three numbers as the first 16 bits of a Terminate Control field. */
    public int code() {
        return layer << 12 | errorType << 8 | errorCode;
    }

    /** Text for messages. */
    public String text() {
        return text;
    }

    /** True if the Terminate carries the length and DDP header of the segment (RFC 5040 figure 10). */
    public boolean includesDdpHeader() {
        return layer != LLP && errorType != 0;
    }

    /** True if the Terminate of a READ request carries the READ request too (RFC 5040 figure 10). */
    public boolean includesRdmapHeader() {
        return layer == 0 && errorType == 1;
    }

    /** The cause with these numbers, or null if there is none. */
    public static @Nullable TerminateCause ofCode(int code) {
        if (code >>> Byte.SIZE == LOCAL_CATASTROPHIC.code() >>> Byte.SIZE) {
            return LOCAL_CATASTROPHIC; // RFC 5040 figure 9: any error code is acceptable
        }
        for (TerminateCause cause : values()) {
            if (cause.code() == code) {
                return cause;
            }
        }
        return null;
    }
}
