/** Tests of the reliable connection: packet by packet, and two ends on a network that loses, doubles and reorders. */
@NullMarked
package org.softrdma.sim.roce.rc;

import org.jspecify.annotations.NullMarked;
