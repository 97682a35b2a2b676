/**
 * The server as its owner sees it: settings, start and end. {@link org.softrdma.kv.server.KvServer} assembles the
 * packages below: sessions of memcached clients, queue pairs, registered memory, and what it needs from its host.
 *
 * <p>The owner's thread starts and closes it; {@link org.softrdma.kv.server.host} says which threads do its work. Read
 * {@link org.softrdma.kv.server.KvServer} first, then {@link org.softrdma.kv.server.session} and {@link
 * org.softrdma.kv.server.rdma}.
 */
@NullMarked
package org.softrdma.kv.server;

import org.jspecify.annotations.NullMarked;
