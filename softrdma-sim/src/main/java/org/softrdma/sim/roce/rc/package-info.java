/**
 * The reliable connection of RoCEv2 (IBA volume 1, 9.7): what a requester sends, sends again and completes, and what a
 * responder executes, refuses and answers. Pure state machines: header fields and the time come in, packets to be sent
 * and completions come out; neither knows a socket or a clock.
 *
 * <p>The engine of the queue pair runs them. Read {@link org.softrdma.sim.roce.rc.Responder} first, then {@link
 * org.softrdma.sim.roce.rc.Requester}.
 */
@NullMarked
package org.softrdma.sim.roce.rc;

import org.jspecify.annotations.NullMarked;
