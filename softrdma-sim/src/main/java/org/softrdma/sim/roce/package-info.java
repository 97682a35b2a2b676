/**
 * RoCEv2 as a wire: ports, which are UDP sockets of an engine, and the connections that share them. The bytes, the state
 * machines of a reliable connection and those of the connection manager are packages of their own, which know no socket.
 *
 * <p>Runs on the engine's thread unless a method says otherwise. Read {@link org.softrdma.sim.roce.RocePort} first, then
 * {@link org.softrdma.sim.roce.RoceConnection}.
 */
@NullMarked
package org.softrdma.sim.roce;

import org.jspecify.annotations.NullMarked;
