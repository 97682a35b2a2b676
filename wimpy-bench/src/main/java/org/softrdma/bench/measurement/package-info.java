/**
 * What every measurement shares: when operations start, how latencies and rounds are kept, what a failure is.
 *
 * <p>Everything belongs to the thread that measures. Read {@link org.softrdma.bench.measurement.Arrivals} first, then {@link
 * org.softrdma.bench.measurement.MedianOfRounds}.
 */
@NullMarked
package org.softrdma.bench.measurement;

import org.jspecify.annotations.NullMarked;
