/**
 * Faults as data: what goes wrong, where and when. A plan belongs to a run as its seed does; the two together make the
 * run again.
 *
 * <p>Everything runs on the thread that holds the baton. Read {@link org.softrdma.fabric.fault.FaultPlan} first.
 */
@NullMarked
package org.softrdma.fabric.fault;

import org.jspecify.annotations.NullMarked;
