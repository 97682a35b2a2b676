/**
 * The verbs objects: provider, device, protection domain, memory region, completion queue and channel, queue pair.
 *
 * <p>Interfaces; a provider module implements them (softrdma-sim: a software RNIC). Read {@link
 * org.softrdma.verbs.VerbsDevice} first, then {@link org.softrdma.verbs.QueuePair}. Connections are made by {@link
 * org.softrdma.verbs.cm}; rules that every provider keeps in the same way are in {@link org.softrdma.verbs.provider}.
 *
 * <p>Rules that hold everywhere: lengths and offsets are {@code long} bytes; addresses are real addresses of the
 * process that owns the memory, or start at 0 for ZERO_BASED regions; keys ({@code lkey}, {@code rkey}) are opaque 32-bit
 * numbers and never equal by promise; all timeouts are nanoseconds of {@link System#nanoTime()}. Creating, closing and
 * connecting may block for a bounded time and may allocate; posting and polling allocate nothing and wait for no peer. A
 * negative timeout counts as 0, {@link Long#MAX_VALUE} is for ever, the granularity may be a millisecond.
 *
 * <p>How it grows: applications do not implement these interfaces, new methods come with defaults that refuse; enumerations
 * grow, so a switch needs a default; a record that grows keeps its old constructor.
 */
@NullMarked
package org.softrdma.verbs;

import org.jspecify.annotations.NullMarked;
