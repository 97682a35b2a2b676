/**
 * The verbs sanitiser: it wraps the device of any provider and tells which rules of verbs a program breaks, for
 * programs that work here and fail on hardware.
 *
 * <p>Opt-in: {@link org.softrdma.sanitiser.Sanitiser} wraps a device in code, and the provider name {@code
 * sanitised:sim} opens one that is wrapped. On the program's threads. Read {@link org.softrdma.sanitiser.Sanitiser}
 * first.
 */
@NullMarked
package org.softrdma.sanitiser;

import org.jspecify.annotations.NullMarked;
