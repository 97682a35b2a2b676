/**
 * Measurements: perftest's tests, rping, and studies that measure several systems in one run, pinned and throttled, and
 * report what they skipped. This package holds nothing itself.
 *
 * <p>Load runs on its own threads in its own process; the measured server is always a separate process. Read {@link
 * org.softrdma.bench.wimpy.WimpyStudy} first; for the RNIC alone, {@link org.softrdma.bench.floor.FloorStudy}.
 */
@NullMarked
package org.softrdma.bench;

import org.jspecify.annotations.NullMarked;
