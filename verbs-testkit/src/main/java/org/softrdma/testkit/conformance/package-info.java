/**
 * A run of the suite: which cases there are, running them, and what came of each.
 *
 * <p>Lies above the cases and what they work with. Everything runs on the thread that starts the run, through the
 * JUnit launcher. Read {@link org.softrdma.testkit.conformance.ConformanceRunner} first.
 */
@NullMarked
package org.softrdma.testkit.conformance;

import org.jspecify.annotations.NullMarked;
