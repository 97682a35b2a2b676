/**
 * The verbs objects: provider, device, protection domain, memory region, completion queue and channel, queue pair.
 *
 * <p>These are interfaces, and provider modules implement them; softrdma-sim does so as a software RNIC. {@link
 * org.softrdma.verbs.cm} makes connections. {@link org.softrdma.verbs.provider} has the code that all providers share.
 * Read {@link org.softrdma.verbs.device.VerbsDevice} first, then {@link org.softrdma.verbs.QueuePair}. Each interface
 * says which threads may call it.
 *
 * <p>These rules apply everywhere:
 *
 * <ul>
 *   <li>Lengths and offsets are bytes, in a {@code long}.
 *   <li>Addresses are real addresses of the process that owns the memory. Those of a ZERO_BASED region start at 0.
 *   <li>Keys ({@code lkey}, {@code rkey}) are opaque 32-bit numbers. The two keys of a region may differ.
 *   <li>Timeouts are in nanoseconds. A negative one counts as 0, {@link Long#MAX_VALUE} means for ever, and the
 *       granularity may be a millisecond.
 *   <li>Posting and polling allocate nothing and never wait for a peer. Creating, closing and connecting may allocate,
 *       and may block for a bounded time.
 * </ul>
 *
 * <p>The API will grow. Do not implement these interfaces in an application: new methods get a default that refuses.
 * Enumerations get more constants, so give each switch a default. A record that gets more components keeps its old
 * constructor.
 */
@NullMarked
package org.softrdma.verbs;

import org.jspecify.annotations.NullMarked;
