package org.softrdma.cli.farm;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import org.softrdma.cli.command.DeviceProgress;
import org.softrdma.cli.command.ProviderMixin;
import org.softrdma.cluster.ClusterNode;
import org.softrdma.cluster.ZooKeeperMembership;
import org.softrdma.verbs.device.VerbsDevice;

/** This process as a machine of a cluster that has no memory. One thread. */
final class ClientOfCluster implements AutoCloseable {
    private final ClusterNode node;

    private ClientOfCluster(ClusterNode node) {
        this.node = node;
    }

    /**
     * Joins.
     *
     * @param provider of its device
     * @param membership its session, which this closes, also if it fails
     * @param onEnd called by the node's thread when it is no member any more, or closed
     */
    static ClientOfCluster join(ProviderMixin provider, ZooKeeperMembership membership, Runnable onEnd) {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        return new ClientOfCluster(ClusterNode.start(
                () -> open(provider), membership, membership.context(address).withoutMemory(), onEnd));
    }

    /** Opens the device of a machine, on the thread of the machine, which drives it unless {@code --device} says otherwise. */
    static VerbsDevice open(ProviderMixin provider) {
        return provider.openWithKnown(Map.of("progress", DeviceProgress.MANUAL.option()));
    }

    ClusterNode node() {
        return node;
    }

    /** WRITEs of others that its device has taken. */
    long writes() {
        return LocalCluster.Counters.of(node.counters()).writes();
    }

    @Override
    public void close() {
        node.close();
    }
}
