/**
 * Transactions: optimistic, with two-phase commit over the primaries of what they write. The protocol is in state machines
 * that are given messages and name the next ones; they have no socket and no clock.
 *
 * <p>The node's thread. Read {@link org.softrdma.farm.transaction.Coordinator} first, then {@link
 * org.softrdma.farm.transaction.Participant}.
 */
@NullMarked
package org.softrdma.farm.transaction;

import org.jspecify.annotations.NullMarked;
