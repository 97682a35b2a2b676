/**
 * What a measurement needs of the machine: CPU time of processes and cores, pinning, child processes, medians.
 *
 * <p>Everything runs on the caller's thread, except that a {@link org.softrdma.bench.cpu.Child} has two threads that read
 * its output. Read {@link org.softrdma.bench.cpu.CpuClock} and {@link org.softrdma.bench.cpu.CoreClock} first: the two ways
 * to say what an operation costs its server.
 */
@NullMarked
package org.softrdma.bench.cpu;

import org.jspecify.annotations.NullMarked;
