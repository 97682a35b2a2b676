/**
 * The software RNIC: a verbs provider that speaks iWARP over TCP or an in-JVM fabric.
 *
 * <p>Runs on its own engine threads, or in manual progress on the one application thread that polls it.
 * Read the provider class first, then the engine.
 */
@NullMarked
package org.softrdma.sim;

import org.jspecify.annotations.NullMarked;
