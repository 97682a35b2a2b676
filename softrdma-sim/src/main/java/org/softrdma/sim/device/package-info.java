/**
 * The verbs objects: device, protection domain, memory region, queue pair, listener, connector, connection request. The
 * completion queue and its channel are in {@code queue}, because engines push into them.
 *
 * <p>Application threads; the engines do the work. Read {@link org.softrdma.sim.device.SoftRdmaDevice} first.
 */
@NullMarked
package org.softrdma.sim.device;

import org.jspecify.annotations.NullMarked;
