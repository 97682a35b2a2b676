package org.softrdma.sim.device;

import org.softrdma.sim.engine.EngineLimits;
import org.softrdma.sim.link.Wire;
import org.softrdma.sim.pinning.PinningSettings;
import org.softrdma.sim.samehost.SameHost;

/**
 * Settings of a device.
 *
 * @param manualProgress true if the opening thread drives the device
 * @param maxRegions maximum number of memory regions
 * @param pinning when and how much memory is pinned
 * @param sameHost how it takes part in READs on the same host
 * @param engine counts and times of its engines
 * @param wire makes what carries its requests
 * @param profile the device that it is confined to
 */
public record DeviceSettings(
        boolean manualProgress,
        int maxRegions,
        PinningSettings pinning,
        SameHost.Mode sameHost,
        EngineLimits engine,
        Wire.Factory wire,
        DeviceProfile profile) {}
