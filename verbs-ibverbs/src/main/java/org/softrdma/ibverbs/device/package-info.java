/**
 * The objects of verbs-api as every provider on the kernel's devices has them: who may call what when, states, rings,
 * flushing, counting, closing. A provider extends the abstract classes by what differs: how a work request is written,
 * how its library is called, what it lacks. Application threads call in; one thread per device ({@link
 * org.softrdma.ibverbs.device.ConnectionManager}) takes connection events. Read {@link
 * org.softrdma.ibverbs.device.IbvQueuePair} first.
 *
 * <p>Locks, in the order in which they may be taken: queue pair's state, event channel, send queue, receive queue,
 * completion queue, completion channel. None is held while waiting for a peer.
 */
@NullMarked
package org.softrdma.ibverbs.device;

import org.jspecify.annotations.NullMarked;
