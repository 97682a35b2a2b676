package org.softrdma.fabric;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.verbs.device.VerbsDevice;
import org.softrdma.verbs.device.VerbsProvider;

/**
 * The provider of a fabric's devices. Which node's is an option, so that one provider has them all, and a decorator
 * around it knows both ends of their connections. Processes of the run.
 */
public final class FabricProvider implements VerbsProvider {
    private static final String NODE = "node";

    private final Map<String, FabricNode> nodes = new HashMap<>();

    /**
     * A provider.
     *
     * @param nodes of one fabric
     */
    public FabricProvider(FabricNode... nodes) {
        for (FabricNode node : nodes) {
            this.nodes.put(node.name(), node);
        }
    }

    /**
     * The devices of one node.
     *
     * @param provider this, or a decorator around it
     * @param node which
     */
    public static VerbsProvider at(VerbsProvider provider, FabricNode node) {
        return new AtNode(provider, node.name());
    }

    /**
     * Opens a device on a fabric of its own, so that a wrong option is told before a run.
     *
     * @param decorator what to put around the provider
     * @param options of the device
     * @throws IllegalArgumentException if an option is wrong, or the fabric's
     */
    public static void requireOptions(UnaryOperator<VerbsProvider> decorator, Map<String, String> options) {
        Fabric fabric = Fabric.ofSeed(0);
        FabricNode node = fabric.node("node");
        List<IllegalArgumentException> refusals = new ArrayList<>();
        fabric.run(node, () -> {
            try {
                at(decorator.apply(new FabricProvider(node)), node)
                        .open(options)
                        .close();
            } catch (IllegalArgumentException e) {
                refusals.add(e);
            }
        });
        if (!refusals.isEmpty()) {
            throw new IllegalArgumentException(refusals.getFirst().getMessage(), refusals.getFirst());
        }
    }

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
        Map<String, String> all = new LinkedHashMap<>(new SoftRdmaProvider().options());
        all.put(NODE, "name of a node of the fabric (no default)");
        return all;
    }

    @Override
    public VerbsDevice open(Map<String, String> options) {
        Map<String, String> ofDevice = new HashMap<>(options);
        String name = ofDevice.remove(NODE);
        FabricNode node = name == null ? null : nodes.get(name);
        if (node == null) {
            throw new IllegalArgumentException(NODE + "=" + name + ": expected one of " + nodes.keySet());
        }
        return node.open(ofDevice);
    }

    private record AtNode(VerbsProvider provider, String node) implements VerbsProvider {
        @Override
        public String name() {
            return provider.name();
        }

        @Override
        public Usability usability() {
            return provider.usability();
        }

        @Override
        public Map<String, String> options() {
            Map<String, String> all = new LinkedHashMap<>(provider.options());
            all.remove(NODE);
            return all;
        }

        @Override
        public VerbsDevice open(Map<String, String> options) {
            Map<String, String> all = new HashMap<>(options);
            all.put(NODE, node);
            return provider.open(all);
        }
    }
}
