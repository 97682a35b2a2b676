/** Tests of walks, without a device. */
@NullMarked
package org.softrdma.testkit.walk;

import org.jspecify.annotations.NullMarked;
