/**
 * The client: GETs by one-sided READ of items whose place it knows, everything else over its memcached connection.
 *
 * <p>One thread owns a {@link org.softrdma.kv.client.CompletionLoop} and all {@link org.softrdma.kv.client.KvClient}s
 * on it; {@link org.softrdma.kv.client.SharedKvClient} brings a thread of its own and takes requests from any. Read
 * {@link org.softrdma.kv.client.KvClient} first, then {@code KvConnection}, {@code RemoteReader} and
 * {@link org.softrdma.kv.client.ItemCheck}. {@link org.softrdma.kv.client.network.ClientNetwork} is what it needs of
 * its machine.
 */
@NullMarked
package org.softrdma.kv.client;

import org.jspecify.annotations.NullMarked;
