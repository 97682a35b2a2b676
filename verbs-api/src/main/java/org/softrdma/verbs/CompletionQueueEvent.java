package org.softrdma.verbs;

/**
 * A completion queue was full and has lost completions (C: {@code IBV_EVENT_CQ_ERR}). Its queue pairs are in ERROR.
 *
 * @param completionQueue open when the event was taken
 */
public record CompletionQueueEvent(CompletionQueue completionQueue) implements AsyncEvent {}
