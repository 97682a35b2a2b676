/**
 * What the studies of several stores ask for: YCSB's mixes of GETs and PUTs, which pairs, and a load that asks any
 * store for them and looks at every value.
 *
 * <p>Everything belongs to the thread that loads. Read {@link org.softrdma.bench.workload.MixLoad} first.
 */
@NullMarked
package org.softrdma.bench.workload;

import org.jspecify.annotations.NullMarked;
