/** Native memory by address, and the operations on it that can fail. Uses no other package of this project. Any thread. */
@NullMarked
package org.softrdma.net.memory;

import org.jspecify.annotations.NullMarked;
