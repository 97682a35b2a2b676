package org.softrdma.fabric;

import java.util.Map;
import org.softrdma.fabric.adversary.DeviceAdversary;
import org.softrdma.fabric.memory.FabricMemory;
import org.softrdma.fabric.memory.RegisteredRanges;
import org.softrdma.fabric.network.Network;
import org.softrdma.fabric.scheduler.Scheduler;

/**
 * What the nodes of a fabric share.
 *
 * @param scheduler who runs when
 * @param network between them
 * @param memory of their applications
 * @param registered what of it is registered
 * @param adversary habits of their devices
 * @param devices options of their devices
 */
record NodeEnvironment(
        Scheduler scheduler,
        Network network,
        FabricMemory memory,
        RegisteredRanges registered,
        DeviceAdversary adversary,
        Map<String, String> devices) {}
