package org.softrdma.suites.walk;

import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.softrdma.fabric.Fabric;
import org.softrdma.fabric.FabricNode;
import org.softrdma.fabric.FabricProvider;
import org.softrdma.suites.FabricTime;
import org.softrdma.testkit.walk.WalkEnvironment;
import org.softrdma.testkit.walk.WalkFaults;
import org.softrdma.verbs.device.VerbsDevice;
import org.softrdma.verbs.device.VerbsProvider;

/** A fabric as the place of a walk. The walk's process. */
final class FabricPlace implements WalkEnvironment, FabricTime {
    private final Fabric fabric;
    private final FabricNode walker;
    private final List<FabricNode> nodes;
    private final Devices devices;
    private @Nullable WalkFaults faults;

    /** How devices are opened, and whether they give keys again at once. */
    record Devices(VerbsProvider provider, Map<String, String> options, boolean reuseKeys) {}

    FabricPlace(Fabric fabric, FabricNode walker, List<FabricNode> nodes, Devices devices) {
        this.fabric = fabric;
        this.walker = walker;
        this.nodes = nodes;
        this.devices = devices;
    }

    /**
     * Lets the walk break things.
     *
     * @param planned the fabric breaks things too
     */
    void breakBy(boolean planned) {
        faults = new Faults(fabric, nodes, planned);
    }

    @Override
    public VerbsDevice open(int node) {
        return FabricProvider.at(devices.provider(), nodes.get(node)).open(devices.options());
    }

    @Override
    public InetAddress address(int node) {
        return nodes.get(node).address();
    }

    @Override
    public boolean reusesKeys() {
        return devices.reuseKeys();
    }

    @Override
    public Fabric fabric() {
        return fabric;
    }

    @Override
    public void start(String name, Runnable work) {
        walker.start(name, work::run);
    }

    @Override
    public Optional<WalkFaults> faults() {
        return Optional.ofNullable(faults);
    }

    private record Faults(Fabric fabric, List<FabricNode> nodes, boolean unannounced) implements WalkFaults {
        @Override
        public void reset(int one, int other) {
            fabric.reset(nodes.get(one), nodes.get(other));
        }

        @Override
        public void partition(int one, int other, long durationNs) {
            fabric.partition(nodes.get(one), nodes.get(other), durationNs);
        }

        @Override
        public void pause(int node, long durationNs) {
            nodes.get(node).pause(durationNs);
        }

        @Override
        public void kill(int node) {
            nodes.get(node).kill();
        }

        @Override
        public void powerOff(int node) {
            nodes.get(node).powerOff();
        }
    }
}
