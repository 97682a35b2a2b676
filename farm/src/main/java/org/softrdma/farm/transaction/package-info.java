/**
 * Transactions: optimistic, with two-phase commit over the primaries and replicas of what they write, or by one record to
 * each replica where one machine is the primary of everything. The protocol is in state machines that are given messages
 * and name the next ones; they have no socket and no clock.
 *
 * <p>The node's thread. Read {@link org.softrdma.farm.transaction.Coordinator} first, then {@link
 * org.softrdma.farm.transaction.Participant}.
 */
@NullMarked
package org.softrdma.farm.transaction;

import org.jspecify.annotations.NullMarked;
