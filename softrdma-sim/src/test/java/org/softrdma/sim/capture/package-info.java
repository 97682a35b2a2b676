/**
 * Captures read back: by a reader made from the formats' texts, independent of the classes under test.
 *
 * <p>The test's thread and the device's. Read {@link org.softrdma.sim.capture.CaptureTest}.
 */
@NullMarked
package org.softrdma.sim.capture;

import org.jspecify.annotations.NullMarked;
