package org.softrdma.sim.device;

import org.softrdma.sim.engine.EngineLimits;
import org.softrdma.sim.pinning.PinningSettings;

/**
 * Settings of a device.
 *
 * @param manualProgress true if the opening thread drives the device
 * @param maxRegions maximum number of memory regions
 * @param pinning when and how much memory is pinned
 * @param engine sizes and times of its engines
 * @param profile the device that it is confined to
 */
public record DeviceSettings(
        boolean manualProgress, int maxRegions, PinningSettings pinning, EngineLimits engine, DeviceProfile profile) {}
