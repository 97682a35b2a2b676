/**
 * Tests of what cases work with, without a device.
 *
 * <p>Everything runs on the thread of the test engine. Read {@link org.softrdma.testkit.BytePatternTest} first.
 */
@NullMarked
package org.softrdma.testkit;

import org.jspecify.annotations.NullMarked;
