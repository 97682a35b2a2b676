package org.softrdma.sanitiser.watch;

/**
 * Where the completions of a queue pair go.
 *
 * @param sends those of its send queue
 * @param receives those of its receive queue
 * @param signalAll true if every send work request gives one
 */
public record CompletionRoutes(CompletionQueueRecord sends, CompletionQueueRecord receives, boolean signalAll) {}
