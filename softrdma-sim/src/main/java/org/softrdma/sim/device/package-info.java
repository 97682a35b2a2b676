/**
 * The verbs objects that own others: device, protection domain, listener, connector, connection request.
 *
 * <p>Application threads; the engines do the work. Read {@link org.softrdma.sim.device.SoftRdmaDevice} first.
 */
@NullMarked
package org.softrdma.sim.device;

import org.jspecify.annotations.NullMarked;
