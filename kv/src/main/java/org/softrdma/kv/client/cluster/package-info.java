/**
 * Several servers as one store: each key lives on one of them, which every client computes (ketama). A server that
 * fails can be ejected, and returns later.
 *
 * <p>A cluster for one thread runs on the thread that uses it; one for many threads is thread-safe. Read {@link
 * org.softrdma.kv.client.cluster.Ketama} first, then {@link org.softrdma.kv.client.cluster.KvCluster}.
 */
@NullMarked
package org.softrdma.kv.client.cluster;

import org.jspecify.annotations.NullMarked;
