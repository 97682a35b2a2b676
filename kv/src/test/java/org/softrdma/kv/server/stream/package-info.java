/** The port by scripted sockets, and by real ones with the whole store behind it. */
@NullMarked
package org.softrdma.kv.server.stream;

import org.jspecify.annotations.NullMarked;
