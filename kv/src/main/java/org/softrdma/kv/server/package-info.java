/**
 * The server as its owner sees it: settings, start and end. {@link org.softrdma.kv.server.KvServer} puts the rooms
 * below together: sessions of memcached clients, queue pairs, registered memory, and what it needs of its host.
 *
 * <p>The owner's thread starts and closes it; which threads do its work is told in
 * {@link org.softrdma.kv.server.host}. Read {@link org.softrdma.kv.server.KvServer} first, then
 * {@link org.softrdma.kv.server.session} and {@link org.softrdma.kv.server.rdma}.
 */
@NullMarked
package org.softrdma.kv.server;

import org.jspecify.annotations.NullMarked;
