/**
 * How a client reaches its server's memcached port, and where its thread waits: TCP sockets, or a test's substitute.
 *
 * <p>Owned by the thread of the client, which any thread may wake up. Read {@link
 * org.softrdma.kv.client.network.ClientNetwork} first.
 */
@NullMarked
package org.softrdma.kv.client.network;

import org.jspecify.annotations.NullMarked;
