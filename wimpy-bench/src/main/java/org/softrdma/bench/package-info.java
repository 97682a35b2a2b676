/**
 * Studies: several systems measured in one run, pinned and throttled, with a report that says what was skipped.
 *
 * <p>Load runs on its own threads in its own process; the measured server is always a separate process.
 * Read {@link org.softrdma.bench.wimpy.WimpyStudy} first, for the RNIC alone {@link org.softrdma.bench.perf.FloorStudy}.
 */
@NullMarked
package org.softrdma.bench;

import org.jspecify.annotations.NullMarked;
