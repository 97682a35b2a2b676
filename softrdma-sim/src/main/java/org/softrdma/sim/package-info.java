/**
 * The software RNIC: a verbs provider that speaks iWARP over TCP.
 *
 * <p>Runs on its own engine threads, or in manual progress on the one application thread that polls it.
 * Read {@link org.softrdma.sim.SoftRdmaProvider} first, then {@link org.softrdma.sim.engine.Connection}.
 */
@NullMarked
package org.softrdma.sim;

import org.jspecify.annotations.NullMarked;
