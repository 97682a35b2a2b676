/**
 * The connection manager, in the shape of {@code rdma_cm}: resolve, listen, connect, accept, reject, private data. It
 * is the way to a connected queue pair that all transports share; {@link
 * org.softrdma.verbs.ProtectionDomain#createQueuePair} is another, which few have.
 *
 * <p>Every call that waits has a deadline. Any thread may call; in manual progress only the owner may, and the call
 * drives the device. Read {@link org.softrdma.verbs.cm.Connector} (active side) and {@link
 * org.softrdma.verbs.cm.Listener} (passive side) first.
 */
@NullMarked
package org.softrdma.verbs.cm;

import org.jspecify.annotations.NullMarked;
