/**
 * READs from a responder: the load, the responder, and the yardstick, a C program that answers the same READs. Also what loads and
 * responders of other requests share: the process, the memory's content.
 *
 * <p>The thread that calls drives the load; a {@link org.softrdma.bench.read.ReadResponder} reads its control lines on a second
 * thread. Read {@link org.softrdma.bench.read.ReadLoad} first.
 */
@NullMarked
package org.softrdma.bench.read;

import org.jspecify.annotations.NullMarked;
