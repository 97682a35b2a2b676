/** The port by scripted sockets, and by real ones with the whole store behind it; kv's own tests of its port run here, too. */
@NullMarked
package org.softrdma.streams;

import org.jspecify.annotations.NullMarked;
