/**
 * Engines drive connections: an engine is one event loop with the counters, limits and memory that its connections
 * share. A connection stays on one engine for life.
 *
 * <p>Everything but posting runs on the engine's thread; in manual progress that is the owner. Read {@link
 * org.softrdma.sim.engine.RnicEngine} first.
 */
@NullMarked
package org.softrdma.sim.engine;

import org.jspecify.annotations.NullMarked;
