/** How this provider calls Linux and reads its files below /proc and /sys. Depends on nothing of ours. */
@NullMarked
package org.softrdma.sim.kernel;

import org.jspecify.annotations.NullMarked;
