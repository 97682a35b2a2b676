package org.softrdma.fabric;

import java.util.List;
import org.softrdma.fabric.memory.Grains;
import org.softrdma.fabric.network.NetworkSettings;

/**
 * Lawful trouble by a seed: every habit that verbs allow a device, copies in grains of 0, 8 or 64 bytes, streams cut
 * more or less often, small buffers. What a program may not rely on changes from seed to seed, so that many seeds show
 * it. Immutable.
 *
 * @param seed decides it
 */
public record AdversaryBySeed(long seed) {
    private static final List<Grains> GRAINS = List.of(Grains.NONE, Grains.WORDS, Grains.LINES);

    /** Many cuts go with large buffers: else transfers of many megabytes take more steps than a run has. */
    private static final List<NetworkSettings> NETWORKS = List.of(
            network(200, 1 << 16),
            network(0, 1 << 14),
            network(700, 1 << 18),
            network(400, 1 << 16),
            network(200, 1 << 12));

    private static NetworkSettings network(int cuts, int bufferBytes) {
        return NetworkSettings.DEFAULT.withCuts(cuts).withBufferBytes(bufferBytes);
    }

    /** What may happen on the fabric of this seed. */
    public FabricSettings settings() {
        return FabricSettings.adversary().with(of(GRAINS)).with(of(NETWORKS));
    }

    /** Lists of lengths without a common divisor, so that many seeds have every mixture. */
    private <T> T of(List<T> habits) {
        return habits.get((int) Math.floorMod(seed, (long) habits.size()));
    }

    @Override
    public String toString() {
        return "grains of " + of(GRAINS).bytes() + " bytes, " + of(NETWORKS).cuts() + " of 1000 pieces cut, buffers of "
                + of(NETWORKS).bufferBytes() + " bytes";
    }
}
