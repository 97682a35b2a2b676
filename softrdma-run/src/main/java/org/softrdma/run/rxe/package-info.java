/**
 * The queues that a program and its card share, as {@code rdma/rdma_user_rxe.h} has them: rings in a file that both have mapped. Read
 * {@link org.softrdma.run.rxe.RingMemory} first. Runs on the thread that answers calls.
 */
@NullMarked
package org.softrdma.run.rxe;

import org.jspecify.annotations.NullMarked;
