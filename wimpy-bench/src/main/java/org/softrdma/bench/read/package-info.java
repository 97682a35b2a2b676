/**
 * READs from a responder: the load, the responder and its process, and the yardstick, a C program that answers the same READs.
 *
 * <p>The thread that calls drives the load; a {@link org.softrdma.bench.read.ReadResponder} reads its control lines on a second
 * thread. Read {@link org.softrdma.bench.read.ReadLoad} first.
 */
@NullMarked
package org.softrdma.bench.read;

import org.jspecify.annotations.NullMarked;
