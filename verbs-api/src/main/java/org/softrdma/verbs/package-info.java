/**
 * The verbs objects: provider, device, protection domain, memory region, completion queue and channel, queue pair.
 *
 * <p>Interfaces only; a provider module implements them (softrdma-sim: a software RNIC). Read {@link
 * org.softrdma.verbs.VerbsDevice} first, then {@link org.softrdma.verbs.QueuePair}. Connections are made by {@link
 * org.softrdma.verbs.cm}.
 *
 * <p>Rules that hold everywhere: lengths and offsets are {@code long} bytes; addresses are real addresses of the
 * process that owns the memory, or start at 0 for ZERO_BASED regions; keys ({@code lkey}, {@code rkey}) are opaque 32-bit
 * numbers and never equal by promise; all timeouts are nanoseconds of {@link System#nanoTime()}. Creating, closing and
 * connecting may block for a bounded time and may allocate; posting and polling allocate nothing and never block.
 */
@NullMarked
package org.softrdma.verbs;

import org.jspecify.annotations.NullMarked;
