/**
 * How threads of the store and of its clients take turns: every lock that is held while others may run, every wait of
 * one thread for another, and the points in a change of an item where another thread may run.
 *
 * <p>Called by any thread. Read {@link org.softrdma.kv.turns.Turns} first.
 */
@NullMarked
package org.softrdma.kv.turns;

import org.jspecify.annotations.NullMarked;
