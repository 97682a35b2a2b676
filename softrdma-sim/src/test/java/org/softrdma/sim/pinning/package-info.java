/** Pinning: the table on locks that are not there, and whole devices against what the kernel says is locked. */
@NullMarked
package org.softrdma.sim.pinning;

import org.jspecify.annotations.NullMarked;
