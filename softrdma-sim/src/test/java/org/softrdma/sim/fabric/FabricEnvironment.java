package org.softrdma.sim.fabric;

import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.sim.fabric.adversary.Habit;
import org.softrdma.testkit.CaseEnvironment;
import org.softrdma.testkit.ProviderTraits.Trait;
import org.softrdma.verbs.device.VerbsDevice;
import org.softrdma.verbs.device.VerbsProvider;

/** Two nodes of a fabric as the place where conformance cases run. Processes of the run. */
final class FabricEnvironment implements CaseEnvironment {
    /** About what a machine takes. */
    private static final long SPIN_NS = 40;

    private final Fabric fabric;
    private final FabricNode requester;
    private final FabricNode responder;

    FabricEnvironment(Fabric fabric, FabricNode requester, FabricNode responder) {
        this.fabric = fabric;
        this.requester = requester;
        this.responder = responder;
    }

    @Override
    public VerbsProvider requester() {
        return new NodeProvider(requester);
    }

    @Override
    public VerbsProvider responder() {
        return new NodeProvider(responder);
    }

    @Override
    public long nanoTime() {
        return fabric.clock().nanoTime();
    }

    @Override
    public void idle(int rounds) {
        fabric.baton().idle();
    }

    @Override
    public void sleep(long durationNs) {
        fabric.baton().sleep(durationNs);
    }

    @Override
    public void spin(int spins) {
        fabric.baton().sleep(spins * SPIN_NS);
    }

    @Override
    public void start(String name, boolean virtual, Runnable work) {
        requester.start(name, work::run);
    }

    @Override
    public Set<Trait> traits() {
        Set<Trait> traits = EnumSet.noneOf(Trait.class);
        if (fabric.habits().contains(Habit.SPURIOUS_EVENTS)) {
            traits.add(Trait.RAISES_SPURIOUS_EVENTS);
        }
        if (fabric.habits().contains(Habit.NUMBERS_AGAIN)) {
            traits.add(Trait.REUSES_KEYS_AT_ONCE);
        }
        return traits;
    }

    @Override
    public boolean hasSockets() {
        return false;
    }

    /** The provider of one node's devices. */
    private record NodeProvider(FabricNode node) implements VerbsProvider {
        @Override
        public String name() {
            return "sim";
        }

        @Override
        public Usability usability() {
            return Usability.usable("software RNIC on a fabric");
        }

        @Override
        public Map<String, String> options() {
            return new SoftRdmaProvider().options();
        }

        @Override
        public VerbsDevice open(Map<String, String> options) {
            return node.open(options);
        }
    }
}
