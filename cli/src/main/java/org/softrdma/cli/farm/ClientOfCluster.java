package org.softrdma.cli.farm;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import org.softrdma.cli.command.ProviderMixin;
import org.softrdma.cluster.ClusterNode;
import org.softrdma.cluster.ZooKeeperMembership;
import org.softrdma.verbs.device.VerbsDevice;

/** This process as a machine of a cluster that has no memory. One thread. */
final class ClientOfCluster implements AutoCloseable {
    private final VerbsDevice device;
    private final ClusterNode node;

    private ClientOfCluster(VerbsDevice device, ClusterNode node) {
        this.device = device;
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
        VerbsDevice device;
        try {
            device = provider.openWithKnown(Map.of());
        } catch (RuntimeException e) {
            membership.close();
            throw e;
        }
        try {
            InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
            return new ClientOfCluster(
                    device,
                    ClusterNode.start(
                            device, membership, membership.context(address).withoutMemory(), onEnd));
        } catch (RuntimeException e) {
            device.close();
            throw e;
        }
    }

    ClusterNode node() {
        return node;
    }

    /** WRITEs of others that its device has taken. */
    long writes() {
        return LocalCluster.Counters.of(device).writes();
    }

    @Override
    public void close() {
        node.close();
        device.close();
    }
}
