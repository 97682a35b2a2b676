/**
 * The connection manager of RoCEv2 (IBA volume 1, chapter 12): who says what until a connection stands, and until it has
 * ended, on a network that loses, repeats and reorders. Pure state machines: messages of queue pair 1 and the time come in,
 * messages and events go out; nothing here knows a socket, a queue pair or a clock.
 *
 * <p>One thread, that of the engine which has queue pair 1. Read {@link org.softrdma.sim.roce.cm.CommunicationManager} first, then
 * {@link org.softrdma.sim.roce.cm.CmState}.
 */
@NullMarked
package org.softrdma.sim.roce.cm;

import org.jspecify.annotations.NullMarked;
