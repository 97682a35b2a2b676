/**
 * A fabric that breaks on purpose: nodes, their software RNICs and the network between them run in one JVM, one step at
 * a time, and one seed decides every choice. What fails is replayed by its seed.
 *
 * <p>The devices are the software RNIC as it is; their event loops, sockets, clock, keys and copies are the fabric's.
 * Processes are simulated threads. Everything runs on the thread that the scheduler runs, unless a class says otherwise.
 *
 * <p>Read {@link org.softrdma.fabric.Fabric} first, then
 * {@link org.softrdma.fabric.scheduler.Scheduler}.
 */
@NullMarked
package org.softrdma.fabric;

import org.jspecify.annotations.NullMarked;
