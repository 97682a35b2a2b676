package org.softrdma.testkit;

import static org.softrdma.verbs.CompletionStatus.FLUSHED;
import static org.softrdma.verbs.CompletionStatus.GENERAL_ERROR;
import static org.softrdma.verbs.CompletionStatus.LOCAL_ACCESS_ERROR;
import static org.softrdma.verbs.CompletionStatus.LOCAL_PROTECTION_ERROR;
import static org.softrdma.verbs.CompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR;
import static org.softrdma.verbs.CompletionStatus.MEMORY_WINDOW_BIND_ERROR;
import static org.softrdma.verbs.CompletionStatus.REMOTE_ACCESS_ERROR;
import static org.softrdma.verbs.CompletionStatus.REMOTE_INVALID_REQUEST_ERROR;
import static org.softrdma.verbs.CompletionStatus.REMOTE_OPERATION_ERROR;
import static org.softrdma.verbs.CompletionStatus.SUCCESS;

import java.util.Set;
import org.softrdma.verbs.CompletionStatus;

/**
 * Lawful results of requests that need a feature, as those of {@link ProviderTraits}: every member of a set is one. An
 * atomic whose key or right is refused ends as a READ does, and a WRITE with immediate as a WRITE.
 *
 * @param misalignedAtomic an atomic on an address that is no multiple of 8, at the requester
 * @param receiveOfRefusedWrite the RECV that a refused WRITE with immediate would have consumed
 * @param receiveOfRefusedInvalidation the RECV of a SEND that cannot invalidate its key
 * @param sendOfRefusedInvalidation that SEND
 * @param bindRefused the bind of a window
 * @param invalidationRefused the invalidation, by its own side, of what is no bound window
 */
public record FeatureStatuses(
        Set<CompletionStatus> misalignedAtomic,
        Set<CompletionStatus> receiveOfRefusedWrite,
        Set<CompletionStatus> receiveOfRefusedInvalidation,
        Set<CompletionStatus> sendOfRefusedInvalidation,
        Set<CompletionStatus> bindRefused,
        Set<CompletionStatus> invalidationRefused) {
    private static final Set<CompletionStatus> ANY_INVALIDATION =
            Set.of(LOCAL_QUEUE_PAIR_OPERATION_ERROR, LOCAL_PROTECTION_ERROR, MEMORY_WINDOW_BIND_ERROR);

    /**
     * iWARP. A refused WRITE ends the stream before its immediate comes, so the RECV is flushed. A misaligned atomic is a
     * catastrophic error of the stream (RFC 7306 section 8.2), and not said to be the request's fault.
     *
     * @param statuses the peer tells the request that it refuses
     * @param readStatuses it does so for requests that it answers
     */
    static FeatureStatuses iwarp(boolean statuses, boolean readStatuses) {
        return new FeatureStatuses(
                readStatuses ? Set.of(REMOTE_OPERATION_ERROR, REMOTE_INVALID_REQUEST_ERROR) : Set.of(FLUSHED),
                Set.of(FLUSHED),
                Set.of(REMOTE_INVALID_REQUEST_ERROR, REMOTE_OPERATION_ERROR, LOCAL_PROTECTION_ERROR, FLUSHED),
                statuses
                        ? Set.of(REMOTE_ACCESS_ERROR, REMOTE_INVALID_REQUEST_ERROR, REMOTE_OPERATION_ERROR)
                        : Set.of(SUCCESS, FLUSHED, LOCAL_QUEUE_PAIR_OPERATION_ERROR),
                Set.of(MEMORY_WINDOW_BIND_ERROR),
                ANY_INVALIDATION);
    }

    /**
     * InfiniBand and RoCE. A refused WRITE with immediate takes its RECV with it. SoftRoCE gives that RECV the status of
     * the peer, and acknowledges a SEND whose key it cannot invalidate (rxe_resp.c, ERR_INVALIDATE_RKEY).
     */
    static FeatureStatuses channelAdapter() {
        return new FeatureStatuses(
                Set.of(REMOTE_INVALID_REQUEST_ERROR),
                Set.of(LOCAL_ACCESS_ERROR, LOCAL_PROTECTION_ERROR, REMOTE_ACCESS_ERROR, FLUSHED),
                Set.of(
                        REMOTE_INVALID_REQUEST_ERROR,
                        LOCAL_PROTECTION_ERROR,
                        LOCAL_ACCESS_ERROR,
                        LOCAL_QUEUE_PAIR_OPERATION_ERROR,
                        GENERAL_ERROR),
                Set.of(SUCCESS, FLUSHED, REMOTE_ACCESS_ERROR, REMOTE_INVALID_REQUEST_ERROR, REMOTE_OPERATION_ERROR),
                Set.of(MEMORY_WINDOW_BIND_ERROR, LOCAL_QUEUE_PAIR_OPERATION_ERROR),
                ANY_INVALIDATION);
    }
}
