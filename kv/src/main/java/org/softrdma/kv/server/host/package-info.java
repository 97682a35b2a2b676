/**
 * What the server needs of its host besides the device: a network for the memcached port, and somebody who runs its
 * loops.
 *
 * <p>A network calls {@link org.softrdma.kv.server.host.ClientHandler}s on threads of its own; agents are run by
 * {@link org.softrdma.kv.server.host.ServerThreads}. Read {@link org.softrdma.kv.server.host.ServerAgent} and
 * {@link org.softrdma.kv.server.host.ClientChannel} first.
 */
@NullMarked
package org.softrdma.kv.server.host;

import org.jspecify.annotations.NullMarked;
