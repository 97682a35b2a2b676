package org.softrdma.farm.node;

import org.softrdma.farm.membership.FarmConfiguration;

/** Takes the configuration, once this machine runs. The node's thread. */
final class ConfigurationTask extends NodeTask {
    private final NodeParts node;
    private FarmConfiguration configuration = FarmConfiguration.NONE;

    ConfigurationTask(NodeParts node) {
        this.node = node;
    }

    /** It, once that is done. */
    FarmConfiguration configuration() {
        return configuration;
    }

    @Override
    boolean advance(long nowNs) {
        configuration = node.member().configuration();
        return node.member().isRunning();
    }

    @Override
    void onEpoch() {
        // It takes the newest.
    }
}
