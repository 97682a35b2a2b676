/**
 * Says whether what clients saw could have happened: records operations while clients run, and checks afterwards that
 * the operations of each key are linearizable (Herlihy and Wing 1990), unknown outcomes of lost operations allowed.
 *
 * <p>Each {@link org.softrdma.testkit.history.ProcessRecorder} belongs to one thread. The checker runs on its caller's
 * thread, keeps nothing between two checks, and never passes what it could not decide. What an operation may do is
 * said by a {@link org.softrdma.testkit.history.Model}. Read {@link org.softrdma.testkit.history.HistoryChecker} first,
 * then {@code OrderSearch}. Transactions over several keys have a checker of their own, {@link
 * org.softrdma.testkit.history.ListAppendChecker}.
 */
@NullMarked
package org.softrdma.testkit.history;

import org.jspecify.annotations.NullMarked;
