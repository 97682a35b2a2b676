/** Tests of RoCEv2 as a wire. */
@NullMarked
package org.softrdma.sim.roce;

import org.jspecify.annotations.NullMarked;
