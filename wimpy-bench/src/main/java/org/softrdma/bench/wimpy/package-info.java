/**
 * The study of the Wimpy paper: what a GET costs the server, by one-sided READ and by memcached and others, on the same machine
 * in interleaved rounds; its table, results.json and report.html.
 *
 * <p>Load and study run on one thread of this process; every measured server is a child process or runs elsewhere. Read {@link
 * org.softrdma.bench.wimpy.WimpyStudy} first.
 */
@NullMarked
package org.softrdma.bench.wimpy;

import org.jspecify.annotations.NullMarked;
