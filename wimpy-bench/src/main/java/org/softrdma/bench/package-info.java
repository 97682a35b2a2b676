/**
 * Studies: several systems measured in one run, pinned and throttled, with a report that says what was skipped.
 *
 * <p>Load runs on its own threads in its own process; the measured server is always a separate process.
 * Read the scenario class first.
 */
@NullMarked
package org.softrdma.bench;

import org.jspecify.annotations.NullMarked;
