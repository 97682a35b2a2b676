/**
 * What clients hear of each other by {@code watch}: lines about keys that are asked for, stored and evicted, and about
 * connections.
 *
 * <p>Any thread tells; the thread of a watcher's connection sends. Read {@link org.softrdma.kv.server.watch.WatchLog}
 * first.
 */
@NullMarked
package org.softrdma.kv.server.watch;

import org.jspecify.annotations.NullMarked;
