/**
 * Who runs when: simulated threads of which one runs at a time, the clock that only they move, and the seed that
 * decides every choice. Knows no RDMA. Everything runs on the thread that holds the baton, unless a class says otherwise.
 *
 * <p>Read {@link org.softrdma.fabric.baton.Baton} first.
 */
@NullMarked
package org.softrdma.fabric.baton;

import org.jspecify.annotations.NullMarked;
