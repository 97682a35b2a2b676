/** Calls to Linux, and its files below /proc and /sys. Uses no other package of this project. Any thread. */
@NullMarked
package org.softrdma.net.kernel;

import org.jspecify.annotations.NullMarked;
