package org.softrdma.sim.roce.rc;

import org.softrdma.sim.roce.wire.RoceOpcode;
import org.softrdma.verbs.SendOpcode;

/** Which operation the packets of a message have, by what was posted and by their place in it. */
public final class MessageOpcodes {
    private MessageOpcodes() {}

    /**
     * The operation of a packet, to which the transport is added.
     *
     * @param request what was posted; not an operation on windows
     * @param first the packet is the first of its message
     * @param last it is the last
     */
    public static int operation(SendOpcode request, boolean first, boolean last) {
        return switch (request) {
            case SEND -> pick(first, last, RoceOpcode.SEND_FIRST, RoceOpcode.SEND_LAST, RoceOpcode.SEND_ONLY);
            case SEND_IMMEDIATE ->
                pick(
                        first,
                        last,
                        RoceOpcode.SEND_FIRST,
                        RoceOpcode.SEND_LAST_IMMEDIATE,
                        RoceOpcode.SEND_ONLY_IMMEDIATE);
            case SEND_INVALIDATE ->
                pick(
                        first,
                        last,
                        RoceOpcode.SEND_FIRST,
                        RoceOpcode.SEND_LAST_INVALIDATE,
                        RoceOpcode.SEND_ONLY_INVALIDATE);
            case WRITE -> pick(first, last, RoceOpcode.WRITE_FIRST, RoceOpcode.WRITE_LAST, RoceOpcode.WRITE_ONLY);
            case WRITE_IMMEDIATE ->
                pick(
                        first,
                        last,
                        RoceOpcode.WRITE_FIRST,
                        RoceOpcode.WRITE_LAST_IMMEDIATE,
                        RoceOpcode.WRITE_ONLY_IMMEDIATE);
            case READ -> RoceOpcode.READ_REQUEST;
            case COMPARE_AND_SWAP -> RoceOpcode.COMPARE_SWAP;
            case FETCH_AND_ADD -> RoceOpcode.FETCH_ADD;
            case INVALIDATE, BIND_WINDOW -> throw new IllegalArgumentException(request + " is not sent to the peer");
        };
    }

    /** A message's first packet has the operation before that of the packets in its middle. */
    private static int pick(boolean first, boolean last, int firstOperation, int lastOperation, int onlyOperation) {
        if (first) {
            return last ? onlyOperation : firstOperation;
        }
        return last ? lastOperation : firstOperation + 1;
    }
}
