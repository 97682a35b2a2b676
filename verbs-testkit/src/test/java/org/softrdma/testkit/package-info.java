/**
 * Tests of the suite itself, without a device.
 *
 * <p>Everything runs on the thread of the test engine. Read {@link org.softrdma.testkit.ConformanceRunnerTest} first.
 */
@NullMarked
package org.softrdma.testkit;

import org.jspecify.annotations.NullMarked;
