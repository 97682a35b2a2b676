/**
 * What a measurement needs of the machine: child processes, control groups, throttles, a description of the machine.
 *
 * <p>Everything runs on the caller's thread, except that a {@link org.softrdma.bench.machine.Child} has two threads that read
 * its output. Read {@link org.softrdma.bench.machine.Throttles} first.
 */
@NullMarked
package org.softrdma.bench.machine;

import org.jspecify.annotations.NullMarked;
