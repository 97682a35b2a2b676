/**
 * CPU time of processes, threads and cores, allocation on the heap, and pinning to cores.
 *
 * <p>Everything runs on the caller's thread. Read {@link org.softrdma.bench.cpu.CpuClock} and {@link
 * org.softrdma.bench.cpu.CoreClock} first: the two ways to say what an operation costs its server.
 */
@NullMarked
package org.softrdma.bench.cpu;

import org.jspecify.annotations.NullMarked;
