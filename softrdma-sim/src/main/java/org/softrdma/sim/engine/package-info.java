/**
 * The RNIC itself: engines that serve and make requests on connections, each pinned to one event loop for life.
 *
 * <p>Everything but posting runs on the engine's thread (in manual progress: the owner). To follow one READ: {@link
 * org.softrdma.sim.engine.Connection#ready}, {@link org.softrdma.sim.engine.InboundStream}, {@link
 * org.softrdma.sim.engine.OutboundStream}, {@link org.softrdma.sim.engine.TransmitBatch}.
 */
@NullMarked
package org.softrdma.sim.engine;

import org.jspecify.annotations.NullMarked;
