/**
 * Memcached whose GETs are one-sided RDMA READs: item store, memcached port and client.
 *
 * <p>One store thread writes items; the RNIC and remote readers only read them. No provider is named here.
 * Read the server class first, then the store.
 */
@NullMarked
package org.softrdma.kv;

import org.jspecify.annotations.NullMarked;
