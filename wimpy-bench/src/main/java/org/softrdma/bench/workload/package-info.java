/**
 * What the studies of several stores ask for: YCSB's mixes of GETs and PUTs, which pairs, and loads that ask any store for
 * them and look at what it returns: {@link org.softrdma.bench.workload.MixLoad} at every value, {@link
 * org.softrdma.bench.workload.GetLoad} at the least cost of a GET.
 *
 * <p>Everything belongs to the thread that loads. Read {@link org.softrdma.bench.workload.MixLoad} first.
 */
@NullMarked
package org.softrdma.bench.workload;

import org.jspecify.annotations.NullMarked;
