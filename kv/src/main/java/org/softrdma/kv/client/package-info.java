/**
 * The client: GETs by one-sided READ of items whose place it knows, everything else over its memcached connection.
 *
 * <p>No threads of its own: one thread owns a {@link org.softrdma.kv.client.CompletionLoop} and all clients on it. Read
 * {@link org.softrdma.kv.client.KvClient} first, then {@link org.softrdma.kv.client.ItemCheck}.
 */
@NullMarked
package org.softrdma.kv.client;

import org.jspecify.annotations.NullMarked;
