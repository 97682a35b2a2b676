/**
 * Memory of a simulation: addresses whose names are the same in every run, and copies that other threads can see half
 * done.
 *
 * <p>Everything runs on the thread that the scheduler runs. Read {@link org.softrdma.fabric.memory.GrainCopier} first.
 */
@NullMarked
package org.softrdma.fabric.memory;

import org.jspecify.annotations.NullMarked;
