package org.softrdma.ibverbs.device;

import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import org.softrdma.ibverbs.CmEventType;

/**
 * An event of librdmacm, as far as a provider knows it; rdma_get_cm_event(3).
 *
 * @param type what has happened
 * @param status 0, a negated errno, or a reason of the transport; empty if unknown
 * @param privateData what the peer sent, perhaps empty; must not be changed
 * @param responderResources as the event has it; empty if unknown
 * @param initiatorDepth as the event has it; empty if unknown
 * @param datagrams number and key of the queue pair that answers a question for datagrams; else null
 */
@SuppressWarnings("ArrayRecordComponent") // handed on, never compared
public record CmEvent(
        CmEventType type,
        OptionalInt status,
        byte[] privateData,
        OptionalInt responderResources,
        OptionalInt initiatorDepth,
        @Nullable Datagrams datagrams) {
    /**
     * Where datagrams go.
     *
     * @param number of the queue pair
     * @param queueKey of the queue pair
     */
    public record Datagrams(int number, int queueKey) {}

    /** An event of which only the type is known. */
    public static CmEvent of(CmEventType type) {
        return new CmEvent(type, OptionalInt.empty(), new byte[0], OptionalInt.empty(), OptionalInt.empty(), null);
    }

    /** Text for messages. */
    @Override
    public String toString() {
        return type + (status.isPresent() ? ", status " + status.getAsInt() : "");
    }
}
