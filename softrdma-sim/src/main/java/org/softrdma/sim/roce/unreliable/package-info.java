/**
 * Unreliable connections and datagrams, without sockets: what is sent, and what becomes of the packets that arrive. Nothing
 * is acknowledged or sent again; what cannot be taken is dropped, and each cause is counted.
 *
 * <p>Engine thread. Read {@link org.softrdma.sim.roce.unreliable.UnreliableResponder} first.
 */
@NullMarked
package org.softrdma.sim.roce.unreliable;

import org.jspecify.annotations.NullMarked;
