/**
 * A network without sockets: a transport for devices whose byte streams are buffers in this process. What is sent
 * arrives in pieces and at times that the seed decides, in order, as TCP does it.
 *
 * <p>Everything runs on the thread that the scheduler runs. Read {@link org.softrdma.fabric.network.Network} first.
 */
@NullMarked
package org.softrdma.fabric.network;

import org.jspecify.annotations.NullMarked;
