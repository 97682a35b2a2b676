package org.softrdma.suites.tck;

import java.util.EnumSet;
import java.util.Set;
import org.softrdma.fabric.Fabric;
import org.softrdma.fabric.FabricNode;
import org.softrdma.fabric.FabricProvider;
import org.softrdma.fabric.adversary.Habit;
import org.softrdma.suites.FabricTime;
import org.softrdma.testkit.CaseEnvironment;
import org.softrdma.testkit.ProviderTraits.Trait;
import org.softrdma.verbs.device.VerbsProvider;

/** Two nodes of a fabric as the place where conformance cases run. Processes of the run. */
final class FabricEnvironment implements CaseEnvironment, FabricTime {
    /** What {@link Thread#onSpinWait} takes on a machine, about. */
    private static final long SPIN_NS = 40;

    private final Fabric fabric;
    private final FabricNode requester;
    private final FabricNode responder;
    private final VerbsProvider provider;

    /**
     * Two nodes.
     *
     * @param fabric theirs
     * @param requester the side that connects; its processes run the case
     * @param responder the side that accepts
     * @param provider of both nodes
     */
    FabricEnvironment(Fabric fabric, FabricNode requester, FabricNode responder, VerbsProvider provider) {
        this.fabric = fabric;
        this.requester = requester;
        this.responder = responder;
        this.provider = provider;
    }

    @Override
    public VerbsProvider requester() {
        return FabricProvider.at(provider, requester);
    }

    @Override
    public VerbsProvider responder() {
        return FabricProvider.at(provider, responder);
    }

    @Override
    public Fabric fabric() {
        return fabric;
    }

    @Override
    public void spin(int spins) {
        fabric.scheduler().sleep(spins * SPIN_NS);
    }

    @Override
    public void start(String name, boolean virtual, Runnable work) {
        requester.start(name, work::run);
    }

    @Override
    public Set<Trait> traits() {
        Set<Trait> traits = EnumSet.of(Trait.VIRTUAL_ADDRESSES);
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
}
