/**
 * A run of the suite: finds the cases, runs them and reports the result of each.
 *
 * <p>This package uses the cases and their tools, not the other way round. Everything runs on the thread that starts
 * the run, through the JUnit launcher. Read {@link org.softrdma.testkit.conformance.ConformanceRunner} first.
 */
@NullMarked
package org.softrdma.testkit.conformance;

import org.jspecify.annotations.NullMarked;
