/**
 * How a program gets a device: {@link org.softrdma.verbs.device.VerbsProviders} finds a provider by its name, the
 * provider opens a device, and the device creates everything else.
 *
 * <p>Uses {@link org.softrdma.verbs} and {@link org.softrdma.verbs.cm}, which do not depend on it. Runs on the caller's
 * thread. Read {@link org.softrdma.verbs.device.VerbsDevice} first.
 */
@NullMarked
package org.softrdma.verbs.device;

import org.jspecify.annotations.NullMarked;
