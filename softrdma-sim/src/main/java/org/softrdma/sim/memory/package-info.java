/**
 * Memory as the engine sees it: raw addresses, the table of steering tags, and the check of every access.
 *
 * <p>Registration runs on application threads, look-ups on engine threads. {@link org.softrdma.sim.memory.Quiescence}
 * makes it safe to free memory that engines may be using. Read {@link org.softrdma.sim.memory.StagTable} first.
 */
@NullMarked
package org.softrdma.sim.memory;

import org.jspecify.annotations.NullMarked;
