/**
 * {@code softrdma perf}: perftest's tests, the studies {@code floor}, {@code scale} and {@code verbs}, and the responder that those measure.
 *
 * <p>The main thread measures. Read {@link org.softrdma.cli.perf.PerfTestCommand} first, then {@link
 * org.softrdma.cli.perf.PerfFloorCommand}.
 */
@NullMarked
package org.softrdma.cli.perf;

import org.jspecify.annotations.NullMarked;
