/**
 * {@code softrdma perf read-lat} and its siblings: perftest's six tests over the verbs API, with its options and its tables.
 *
 * <p>The thread that calls owns everything, so that a device in manual progress can be measured. Read {@link
 * org.softrdma.bench.perftest.PerfClient} first.
 */
@NullMarked
package org.softrdma.bench.perftest;

import org.jspecify.annotations.NullMarked;
