package org.softrdma.sanitiser.watch;

import org.jspecify.annotations.Nullable;

/**
 * Where the completions of a queue pair go.
 *
 * @param sends those of its send queue
 * @param receives those of its receive queue
 * @param shared what follows the RECVs of a shared receive queue; null if it has RECVs of its own
 * @param signalAll true if every send work request gives one
 * @param queueKey of datagrams
 */
public record CompletionRoutes(
        CompletionQueueRecord sends,
        CompletionQueueRecord receives,
        @Nullable SharedReceiveWatch shared,
        boolean signalAll,
        int queueKey) {}
