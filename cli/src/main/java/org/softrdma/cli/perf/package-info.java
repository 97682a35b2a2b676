/**
 * {@code softrdma perf}: perftest's tests, the studies {@code floor} and {@code scale}, and the responder that those measure.
 *
 * <p>The main thread measures. Read {@link org.softrdma.cli.perf.PerfTestCommand} first, then {@link
 * org.softrdma.cli.perf.PerfFloorCommand}.
 */
@NullMarked
package org.softrdma.cli.perf;

import org.jspecify.annotations.NullMarked;
