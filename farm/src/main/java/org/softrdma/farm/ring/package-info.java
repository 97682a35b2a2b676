/**
 * FaRM's messages (NSDI 2014, section 2): a ring in the receiver's memory for each sender, which WRITEs its messages
 * there. The receiver polls the memory, and reports its position after every half of the ring.
 *
 * <p>Each end belongs to one thread. Read {@link org.softrdma.farm.ring.RingFrameDescriptor} first.
 */
@NullMarked
package org.softrdma.farm.ring;

import org.jspecify.annotations.NullMarked;
