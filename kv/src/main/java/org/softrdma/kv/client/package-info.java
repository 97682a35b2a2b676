/**
 * The client: it GETs items by one-sided READ if it knows their locators, and does everything else over its memcached
 * connection.
 *
 * <p>One thread owns a {@link org.softrdma.kv.client.CompletionLoop} and all {@link org.softrdma.kv.client.KvClient}s
 * on it; {@link org.softrdma.kv.client.SharedKvClient} has its own thread and takes requests from any thread. Read
 * {@link org.softrdma.kv.client.KvClient} first, then {@code KvConnection}, {@code RemoteReader} and {@link
 * org.softrdma.kv.client.ItemCheck}. {@link org.softrdma.kv.client.network.ClientNetwork} is its interface to the
 * network.
 */
@NullMarked
package org.softrdma.kv.client;

import org.jspecify.annotations.NullMarked;
