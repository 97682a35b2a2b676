package org.softrdma.farm.node;

import org.softrdma.farm.membership.Wishes;

/** Wishes something, until the membership service has it. The node's thread. */
final class WishTask extends NodeTask {
    private final NodeParts node;
    private final Wishes wishes;

    WishTask(NodeParts node, Wishes wishes) {
        this.node = node;
        this.wishes = wishes;
    }

    @Override
    boolean advance(long nowNs) {
        node.member().wish(wishes);
        return node.member().wishes().equals(wishes);
    }

    @Override
    void onEpoch() {
        // It is wished of whatever epoch.
    }
}
