package org.softrdma.testkit;

import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.WorkCompletion;

/**
 * A copy of a work completion.
 *
 * @param wrId number of the work request
 * @param qpNumber its queue pair
 * @param opcode its opcode; null for a failure
 * @param byteLength bytes moved; -1 for a failure
 * @param immediate that came with the peer's message; empty if there was none
 * @param invalidatedKey that the peer's SEND has invalidated; empty if there was none
 * @param source queue pair that sent the datagram; empty if it was none
 * @param routingHeader of a datagram: its routing header is there
 */
public record Completion(
        long wrId,
        CompletionStatus status,
        int qpNumber,
        @Nullable CompletionOpcode opcode,
        long byteLength,
        OptionalInt immediate,
        OptionalInt invalidatedKey,
        OptionalInt source,
        boolean routingHeader) {
    /**
     * Copies a completion.
     *
     * @param completion as polled
     */
    public static Completion of(WorkCompletion completion) {
        boolean success = completion.isSuccess();
        boolean datagram = success && completion.opcode().isReceive() && completion.isDatagram();
        boolean received = success && completion.opcode().isReceive();
        return new Completion(
                completion.wrId(),
                completion.status(),
                completion.qpNumber(),
                success ? completion.opcode() : null,
                success ? completion.byteLength() : -1,
                received && completion.hasImmediate() ? OptionalInt.of(completion.immediate()) : OptionalInt.empty(),
                received && completion.hasInvalidatedKey()
                        ? OptionalInt.of(completion.invalidatedKey())
                        : OptionalInt.empty(),
                datagram ? OptionalInt.of(completion.sourceNumber()) : OptionalInt.empty(),
                datagram && completion.hasRoutingHeader());
    }

    /** True if the status is SUCCESS. */
    public boolean isSuccess() {
        return status == CompletionStatus.SUCCESS;
    }
}
