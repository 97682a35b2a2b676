package org.softrdma.sanitiser.finding;

/**
 * The two queue pairs of a connection.
 *
 * @param local the one that the finding is about
 * @param peer the other one
 */
public record ConnectionEnds(QueuePairName local, QueuePairName peer) {}
