/**
 * The seam between queue pairs and what carries their requests: a {@link org.softrdma.sim.link.Wire} makes connections;
 * a connection takes doorbells and tells its queue pair how it ends.
 *
 * <p>Runs on the engine's thread unless a method says otherwise. Read {@link org.softrdma.sim.link.Wire} first.
 */
@NullMarked
package org.softrdma.sim.link;

import org.jspecify.annotations.NullMarked;
