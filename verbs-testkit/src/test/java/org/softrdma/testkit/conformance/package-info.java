/** Tests of a run of the suite, without a device. */
@NullMarked
package org.softrdma.testkit.conformance;

import org.jspecify.annotations.NullMarked;
