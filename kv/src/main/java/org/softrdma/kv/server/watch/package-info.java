/**
 * The output of {@code watch}: lines about keys that clients fetch, store or evict, and about connections.
 *
 * <p>Any thread may report an event; the thread of a watcher's connection sends it. Read {@link
 * org.softrdma.kv.server.watch.WatchLog} first.
 */
@NullMarked
package org.softrdma.kv.server.watch;

import org.jspecify.annotations.NullMarked;
