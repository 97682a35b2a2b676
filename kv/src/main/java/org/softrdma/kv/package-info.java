/**
 * Memcached whose GETs are one-sided RDMA READs: item store, memcached port and client.
 *
 * <p>Any thread writes items, one at a time ({@link org.softrdma.kv.store.ItemStore}); the RNIC and remote readers only
 * read them. This module names no provider. Read {@link org.softrdma.kv.server.KvServer} first, then the store.
 */
@NullMarked
package org.softrdma.kv;

import org.jspecify.annotations.NullMarked;
