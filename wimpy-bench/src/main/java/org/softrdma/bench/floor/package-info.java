/**
 * {@code softrdma perf floor}, {@code perf scale} and {@code perf verbs}: what requests cost a software RNIC, beside the floor that
 * plain TCP sets, and beside each other.
 *
 * <p>The thread that calls drives the load; responders are child processes. Read {@link org.softrdma.bench.floor.FloorStudy}
 * first, then {@link org.softrdma.bench.floor.LoadCell}.
 */
@NullMarked
package org.softrdma.bench.floor;

import org.jspecify.annotations.NullMarked;
