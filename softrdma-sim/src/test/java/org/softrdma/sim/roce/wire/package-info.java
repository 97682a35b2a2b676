/** Tests of RoCEv2's bytes, against packets of a kernel and of a model in another language. */
@NullMarked
package org.softrdma.sim.roce.wire;

import org.jspecify.annotations.NullMarked;
