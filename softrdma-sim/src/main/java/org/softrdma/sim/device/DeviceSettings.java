package org.softrdma.sim.device;

import org.softrdma.sim.engine.EngineLimits;
import org.softrdma.sim.pinning.PinningSettings;

/**
 * How a device is made.
 *
 * @param manualProgress the opening thread drives it
 * @param maxRegions most live memory regions
 * @param pinning when memory is pinned
 * @param engine sizes and times of its engines
 */
public record DeviceSettings(boolean manualProgress, int maxRegions, PinningSettings pinning, EngineLimits engine) {}
