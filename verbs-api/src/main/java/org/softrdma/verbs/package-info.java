/**
 * The verbs objects: provider, device, protection domain, memory region, completion queue and channel, queue pair.
 *
 * <p>These are interfaces, and a provider module implements them; softrdma-sim does, as a software RNIC. {@link
 * org.softrdma.verbs.cm} makes connections. {@link org.softrdma.verbs.provider} holds what all providers do alike.
 * Read {@link org.softrdma.verbs.device.VerbsDevice} first, then {@link org.softrdma.verbs.QueuePair}. Each interface
 * says which threads may call it.
 *
 * <p>These rules hold everywhere:
 *
 * <ul>
 *   <li>Lengths and offsets are bytes, in a {@code long}.
 *   <li>Addresses are real addresses of the process that owns the memory. Those of a ZERO_BASED region start at 0.
 *   <li>Keys ({@code lkey}, {@code rkey}) are opaque 32-bit numbers. The two keys of a region may differ.
 *   <li>Timeouts are nanoseconds of {@link System#nanoTime()}. A negative one counts as 0, {@link Long#MAX_VALUE}
 *       means for ever, and the granularity may be a millisecond.
 *   <li>Posting and polling allocate nothing and wait for no peer. Creating, closing and connecting may allocate, and
 *       may block for a bounded time.
 * </ul>
 *
 * <p>The API will grow: applications do not implement these interfaces, and a new method has a default that refuses;
 * enumerations get more constants, so a switch needs a default; a record that gets more components keeps its old
 * constructor.
 */
@NullMarked
package org.softrdma.verbs;

import org.jspecify.annotations.NullMarked;
