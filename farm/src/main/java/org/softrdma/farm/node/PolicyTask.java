package org.softrdma.farm.node;

import org.softrdma.farm.membership.PlacementPolicy;

/** Sets the placement policy, until the membership service has it. The node's thread. */
final class PolicyTask extends NodeTask {
    private final NodeParts node;
    private final PlacementPolicy policy;

    PolicyTask(NodeParts node, PlacementPolicy policy) {
        this.node = node;
        this.policy = policy;
    }

    @Override
    boolean advance(long nowNs) {
        node.member().setPolicy(policy);
        return node.member().policy().equals(policy);
    }

    @Override
    void onEpoch() {
        // It is set in whatever epoch.
    }
}
