package org.softrdma.sim.device;

import java.security.SecureRandom;
import java.util.random.RandomGenerator;
import org.softrdma.sim.memory.MemoryOperations;
import org.softrdma.sim.memory.RegionObserver;
import org.softrdma.sim.pinning.CountedPageLocks;

/**
 * What a device takes from the process around it, beside its transport.
 *
 * @param pageLocks locks pages, for every device of the process
 * @param memory what it does with native memory
 * @param regions told what is registered
 * @param random source of its keys, which peers must not be able to guess
 * @param quota how many objects it may have beside its own limits
 * @param habits what it does where verbs leave a choice
 */
public record DeviceEnvironment(
        CountedPageLocks pageLocks,
        MemoryOperations memory,
        RegionObserver regions,
        RandomGenerator random,
        ResourceQuota quota,
        DeviceHabits habits) {
    /** The machine's. */
    public static DeviceEnvironment ofThisProcess() {
        return with(CountedPageLocks.ofThisProcess(), new MemoryOperations());
    }

    /** The machine's, but for how pages are locked and native memory is used. */
    public static DeviceEnvironment with(CountedPageLocks pageLocks, MemoryOperations memory) {
        return new DeviceEnvironment(
                pageLocks, memory, RegionObserver.NONE, new SecureRandom(), ResourceQuota.NONE, DeviceHabits.USUAL);
    }
}
