/**
 * Faults as data: what goes wrong, where and when. A plan belongs to a run as its seed does; the two together make the
 * run again.
 *
 * <p>In a fabric everything runs on the thread that the scheduler runs, in {@code softrdma run} on the one that answers calls. Read {@link org.softrdma.fabric.fault.FaultPlan} first.
 */
@NullMarked
package org.softrdma.fabric.fault;

import org.jspecify.annotations.NullMarked;
