/**
 * Who runs when: simulated threads of which one runs at a time, the clock that only they move, and the seed that
 * decides every choice. Knows no RDMA. Everything runs on the thread that the scheduler runs, unless a class says otherwise.
 *
 * <p>Read {@link org.softrdma.fabric.scheduler.Scheduler} first.
 */
@NullMarked
package org.softrdma.fabric.scheduler;

import org.jspecify.annotations.NullMarked;
