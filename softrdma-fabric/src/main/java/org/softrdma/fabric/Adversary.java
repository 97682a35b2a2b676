package org.softrdma.fabric;

import java.util.List;
import org.softrdma.sim.fabric.FabricSettings;
import org.softrdma.sim.fabric.memory.Grains;
import org.softrdma.sim.fabric.network.NetworkSettings;

/**
 * Lawful trouble by a seed: every habit that verbs allow a device, copies in grains of 0, 8 or 64 bytes, streams cut more or less often, small buffers. What a program may not
 * rely on changes from seed to seed, so that many seeds show it. Immutable.
 *
 * @param seed decides it
 */
public record Adversary(long seed) {
    private static final List<Grains> GRAINS = List.of(Grains.NONE, Grains.WORDS, Grains.LINES);
    private static final List<Integer> CUTS = List.of(200, 0, 700, 400);
    private static final List<Integer> BUFFERS = List.of(1 << 16, 1 << 14, 1 << 18, 1 << 13, 1 << 16);

    /** What may happen on the fabric of this seed. */
    public FabricSettings settings() {
        return FabricSettings.adversary()
                .with(of(GRAINS))
                .with(NetworkSettings.DEFAULT.withCuts(of(CUTS)).withBufferBytes(of(BUFFERS)));
    }

    /** Lists of lengths without a common divisor, so that many seeds have every mixture. */
    private <T> T of(List<T> habits) {
        return habits.get((int) Math.floorMod(seed, (long) habits.size()));
    }

    @Override
    public String toString() {
        return "grains of " + of(GRAINS).bytes() + " bytes, " + of(CUTS) + " of 1000 pieces cut, buffers of " + of(BUFFERS)
                + " bytes";
    }
}
