package org.softrdma.sim.engine;

import org.softrdma.sim.memory.MemoryOperations;
import org.softrdma.sim.memory.Quiescence;
import org.softrdma.sim.memory.StagTable;
import org.softrdma.sim.pinning.PinTable;

/**
 * The memory of a device, as all its engines use it.
 *
 * @param stags regions by key
 * @param pins their pinned pages
 * @param quiescence knows which engines may be using what
 * @param operations operations on native memory
 */
public record DeviceMemory(StagTable stags, PinTable pins, Quiescence quiescence, MemoryOperations operations) {}
