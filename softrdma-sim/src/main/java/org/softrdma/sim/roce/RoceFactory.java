package org.softrdma.sim.roce;

import java.util.List;
import java.util.random.RandomGenerator;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.link.Wire;

/**
 * Makes RoCEv2 over UDP.
 *
 * @param settings of the wire
 */
public record RoceFactory(RoceSettings settings) implements Wire.Factory {
    private static final List<String> INITIALISED = List.of();

    @Override
    public Wire open(List<RnicEngine> engines, RandomGenerator random) {
        return new RoceWire(settings, engines, random);
    }

    @Override
    public List<String> initialised() {
        return INITIALISED;
    }
}
