/**
 * The study of the Wimpy paper: what a GET costs the server, by one-sided READ and by memcached, on the same machine in
 * interleaved rounds.
 *
 * <p>Load and study run on one thread of this process, every measured server is a child process. Read {@link
 * org.softrdma.bench.wimpy.WimpyStudy} first.
 */
@NullMarked
package org.softrdma.bench.wimpy;

import org.jspecify.annotations.NullMarked;
