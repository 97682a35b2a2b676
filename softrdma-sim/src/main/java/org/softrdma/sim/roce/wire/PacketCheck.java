package org.softrdma.sim.roce.wire;

/** What the first look at a received packet finds. Whatever is not {@link #VALID} is dropped and counted. */
public enum PacketCheck {
    /** Its headers are there, and its lengths agree. */
    VALID,
    /** It has no room for a BTH and an ICRC, or for the headers of its opcode. */
    TOO_SHORT,
    /** Its payload is longer than any transfer unit, its length is no multiple of 4, or its pad is longer than what there is. */
    WRONG_LENGTH,
    /** No transport here has its opcode. */
    UNKNOWN_OPCODE,
    /** It is of another version of the transport. */
    WRONG_VERSION
}
