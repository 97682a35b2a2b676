/**
 * The shared address space: the regions that this machine has, the capabilities of those that others serve, and where a
 * new object goes.
 *
 * <p>The node's thread. Read {@link org.softrdma.farm.space.FarmSpace} first.
 */
@NullMarked
package org.softrdma.farm.space;

import org.jspecify.annotations.NullMarked;
