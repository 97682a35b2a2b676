package org.softrdma.cli.store;

import static org.junit.jupiter.api.Assertions.assertNull;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.AgentRunner;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.CompositeAgent;
import org.jspecify.annotations.Nullable;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreDesign;
import org.softrdma.stores.StoreServer;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * The servers of a design on one thread, each with a device of its own, their workers on threads of their own, and a device for
 * clients. The thread of the test.
 */
final class LiveDesign implements AutoCloseable {
    private static final int KEY = 32;
    private static final int NODES = 2;

    /** Small tables, so that keys move, chunks are used again at once and the table has chains. */
    private static final Map<String, Map<String, String>> OPTIONS = Map.of(
            "pilaf", Map.of("entries", "6", "extents", "16"),
            "pilaf-vo", Map.of("entries", "6", "extents", "16"),
            "herd", Map.of("buckets", "6", "log", "20"),
            "herd-rc", Map.of("buckets", "6", "log", "20"),
            "nessie", Map.of("nodes", Integer.toString(NODES), "index", "5", "entries", "11", "reuse-ms", "10"),
            "nessie-sd", Map.of("index", "5", "entries", "5"),
            "farm", Map.of("buckets", "4", "region", "67108864", "neighbourhood", "2"));

    private final StoreDesign design;
    private final int valueLength;
    private final List<VerbsDevice> devices = new ArrayList<>();
    private final List<InetSocketAddress> addresses = new ArrayList<>();
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private final VerbsDevice clientDevice;
    private final List<AgentRunner> runners = new ArrayList<>();

    LiveDesign(StoreDesign design, int valueLength) {
        this.design = design;
        this.valueLength = valueLength;
        Map<String, String> options = OPTIONS.getOrDefault(design.name(), Map.of());
        Map<String, String> ofDevices = DesignDevices.options(design);
        List<StoreServer> servers = new ArrayList<>();
        for (int node = 0; node < (options.containsKey("nodes") ? NODES : 1); node++) {
            Map<String, String> ofNode = new HashMap<>(options);
            if (options.containsKey("nodes")) {
                ofNode.put("node", Integer.toString(node));
            }
            VerbsDevice device = new SoftRdmaProvider().open(ofDevices);
            devices.add(device);
            StoreServer server = design.serve(
                    device,
                    new StoreServerContext(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                            .maxKeyLength(KEY)
                            .maxValueLength(valueLength)
                            .options(ofNode)
                            .conclude());
            servers.add(server);
            addresses.add(server.address());
        }
        clientDevice = new SoftRdmaProvider().open(ofDevices);
        servers.forEach(server -> server.detachWorkers().forEach(this::start));
        start(new CompositeAgent(servers));
    }

    private void start(Agent agent) {
        AgentRunner runner = new AgentRunner(new BackoffIdleStrategy(), failure::set, null, agent);
        Thread ignored = AgentRunner.startOnThread(runner);
        runners.add(runner);
    }

    StoreClient client() {
        return design.connect(
                clientDevice,
                new StoreClientContext(addresses)
                        .maxKeyLength(KEY)
                        .maxValueLength(valueLength)
                        .conclude());
    }

    @Override
    public void close() {
        runners.forEach(AgentRunner::close); // workers before their servers
        clientDevice.close();
        devices.forEach(VerbsDevice::close);
        assertNull(failure.get());
    }
}
