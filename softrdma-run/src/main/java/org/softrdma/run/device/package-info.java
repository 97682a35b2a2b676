/**
 * The card that a program sees: a SoftRoCE device of this network namespace, as data. Read
 * {@link org.softrdma.run.device.RxeDevice} first. Any thread.
 */
@NullMarked
package org.softrdma.run.device;

import org.jspecify.annotations.NullMarked;
