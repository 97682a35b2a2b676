package org.softrdma.sim.fabric;

import org.softrdma.sim.fabric.baton.Baton;
import org.softrdma.sim.fabric.memory.FabricMemory;
import org.softrdma.sim.fabric.memory.RegisteredRanges;
import org.softrdma.sim.fabric.network.Network;
import org.softrdma.sim.pinning.CountedPageLocks;

/**
 * What the nodes of a fabric share.
 *
 * @param baton who runs when
 * @param network between them
 * @param memory of their applications
 * @param registered what of it is registered
 * @param pageLocks which lock nothing
 */
record NodeSurroundings(
        Baton baton, Network network, FabricMemory memory, RegisteredRanges registered, CountedPageLocks pageLocks) {}
