/**
 * The connection manager, in the shape of {@code rdma_cm}: resolve, listen, connect, accept, reject, private data.
 *
 * <p>The only way to a connected queue pair, because it is the only one that all transports share. Read {@link
 * org.softrdma.verbs.cm.Connector} (active side) and {@link org.softrdma.verbs.cm.Listener} (passive side). Every waiting
 * call has a deadline and may be made from any thread (in manual progress: from the owner, and it drives the device).
 */
@NullMarked
package org.softrdma.verbs.cm;

import org.jspecify.annotations.NullMarked;
