/**
 * The objects of verbs-api, as far as all providers on the kernel's devices share them: what may be called when,
 * states, rings, flushing, counting, closing. A provider extends the abstract classes with what differs: how it writes
 * a work request, how it calls its library, what it lacks. Application threads call in; one thread per device
 * ({@link org.softrdma.ibverbs.device.ConnectionManager}) takes connection events. Read
 * {@link org.softrdma.ibverbs.device.IbvQueuePair} first.
 *
 * <p>Locks, in the order in which they may be taken: queue pair's state, event channel, send queue, receive queue,
 * completion queue, completion channel. None is held while waiting for a peer.
 */
@NullMarked
package org.softrdma.ibverbs.device;

import org.jspecify.annotations.NullMarked;
