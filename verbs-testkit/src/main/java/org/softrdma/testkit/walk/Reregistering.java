package org.softrdma.testkit.walk;

import java.util.Set;
import org.softrdma.testkit.walk.WalkMemory.Memory;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.Reregistration;

/** Changes registrations that no request uses: memory, domain, rights, or several of them. The walk's thread. */
final class Reregistering {
    private final WalkState state;
    private final WalkMemory memory;

    Reregistering(WalkState state, WalkMemory memory) {
        this.state = state;
        this.memory = memory;
    }

    /** Changes a region; from then on it is another one for the model, perhaps with the keys of the old one. */
    boolean change(WalkNode node) {
        WalkRegion region = state.any(node.regions()).orElse(null);
        if (!state.uses(node, Feature.REREGISTRATION)
                || region == null
                || !WalkMemory.users(node, region).isEmpty()) {
            return false;
        }
        Bindings.Hold hold = Bindings.of(node, region);
        if (hold != Bindings.Hold.NONE && !state.breaks(50)) {
            return false;
        }
        Memory before = new Memory(region.buffer(), region.from(), region.length());
        Memory after = state.percent(50) ? memory.choose(node) : before;
        WalkDomain domain = state.percent(30) ? state.any(node.domains()).orElseThrow() : region.domain();
        boolean access = state.percent(50) || (after == before && domain == region.domain());
        Set<AccessFlag> rights = access ? memory.access(node) : region.access();
        Reregistration change = new Reregistration(
                after == before ? null : after.segment(),
                domain == region.domain() ? null : domain.verbs(),
                access ? rights : null);
        state.note("reregister " + region + ", bound: " + hold);
        if (RefusedCalls.isBusy("changing " + region, () -> region.verbs().reregister(change), hold)) {
            state.count("reregistration refused");
            return true;
        }
        Bindings.open(node).stream()
                .filter(binding -> binding.part().region() == region)
                .forEach(Bindings::gone);
        WalkRegion known = WalkRegion.of(domain, after.buffer(), after.from(), rights, region.verbs());
        known.require(after.length());
        region.domain().regions().remove(region);
        node.closedRegions().add(region);
        domain.regions().add(known);
        state.note("it is now " + known);
        return true;
    }
}
