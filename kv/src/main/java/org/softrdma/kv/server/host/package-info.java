/**
 * What the server needs from its host besides the device: a network for the memcached port, and threads that run its
 * loops.
 *
 * <p>A network calls {@link org.softrdma.kv.server.host.ClientHandler}s on its own threads; {@link
 * org.softrdma.kv.server.host.ServerThreads} run the agents. Read {@link org.softrdma.kv.server.host.ServerAgent} and
 * {@link org.softrdma.kv.server.host.ClientChannel} first.
 */
@NullMarked
package org.softrdma.kv.server.host;

import org.jspecify.annotations.NullMarked;
