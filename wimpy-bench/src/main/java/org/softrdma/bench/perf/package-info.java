/**
 * {@code softrdma perf}: perftest's six tests over the verbs API, and two studies of what a software RNIC costs beside plain TCP.
 *
 * <p>The thread that calls owns everything, so that a device in manual progress can be measured; only {@link
 * org.softrdma.bench.perf.ReadResponder} reads its control lines on a second thread. Read {@link
 * org.softrdma.bench.perf.PerfClient} first, then {@link org.softrdma.bench.perf.FloorStudy}.
 */
@NullMarked
package org.softrdma.bench.perf;

import org.jspecify.annotations.NullMarked;
