package org.softrdma.stores.live;

import static org.junit.jupiter.api.Assertions.assertNull;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.AgentRunner;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.CompositeAgent;
import org.jspecify.annotations.Nullable;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.stores.StoreServer;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.testkit.KeptPorts;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * Servers on one thread, each with a device of its own, and a device for clients. Workers may have threads of their own. The thread of the test makes and closes
 * it; any thread may report a failure.
 */
public final class LiveStores implements AutoCloseable {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private final List<VerbsDevice> devices = new ArrayList<>();
    private final List<InetSocketAddress> addresses = new ArrayList<>();
    private final VerbsDevice clientDevice;
    private final List<AgentRunner> workers = new ArrayList<>();
    private final AgentRunner runner;
    private final List<Thread> threads = new ArrayList<>();

    /** Makes a server. */
    public interface Serving {
        /**
         * Makes it.
         *
         * @param node its number, from 0
         * @param context listens on any port
         */
        StoreServer serve(int node, VerbsDevice device, StoreServerContext context);
    }

    /** Starts so many servers. */
    public LiveStores(int count, Serving serving) {
        this(count, Map.of(), serving);
    }

    /**
     * Starts so many servers.
     *
     * @param options of all devices
     */
    public LiveStores(int count, Map<String, String> options, Serving serving) {
        this(count, options, false, serving);
    }

    /**
     * Starts so many servers.
     *
     * @param options of all devices
     * @param ofTheirOwn true if each worker of a server has a thread of its own
     */
    public LiveStores(int count, Map<String, String> options, boolean ofTheirOwn, Serving serving) {
        List<StoreServer> servers = new ArrayList<>();
        for (int node = 0; node < count; node++) {
            VerbsDevice device = new SoftRdmaProvider().open(options);
            devices.add(device);
            InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
            StoreServer server = serving.serve(node, device, new StoreServerContext(any));
            servers.add(server);
            addresses.add(server.address());
        }
        clientDevice = new SoftRdmaProvider().open(options);
        for (StoreServer server : ofTheirOwn ? servers : List.<StoreServer>of()) {
            for (Agent worker : server.detachWorkers()) {
                workers.add(started(worker));
            }
        }
        runner = started(new CompositeAgent(servers));
    }

    private AgentRunner started(Agent agent) {
        AgentRunner made = new AgentRunner(new BackoffIdleStrategy(), this::fail, null, agent);
        threads.add(AgentRunner.startOnThread(made));
        return made;
    }

    /** Options of devices for RoCEv2 on this host, at a port that nobody else has. */
    public static Map<String, String> roce() {
        try {
            return Map.of(
                    "wire", "roce",
                    "roce-address", InetAddress.getLoopbackAddress().getHostAddress(),
                    "roce-port", Integer.toString(KeptPorts.nextUdp()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Something has failed: {@link #close} throws. */
    public void fail(Throwable cause) {
        boolean ignored = failure.compareAndSet(null, cause);
    }

    /** The address of the first server. */
    public InetSocketAddress address() {
        return addresses.getFirst();
    }

    /** The addresses of all servers. */
    public List<InetSocketAddress> addresses() {
        return addresses;
    }

    /** For clients. */
    public VerbsDevice clientDevice() {
        return clientDevice;
    }

    /** What the servers' threads have allocated. */
    public long allocatedBytes() {
        return threads.stream()
                .mapToLong(thread -> THREADS.getThreadAllocatedBytes(thread.threadId()))
                .sum();
    }

    /** How many threads workers have of their own. */
    public int workers() {
        return workers.size();
    }

    @Override
    public void close() {
        workers.forEach(AgentRunner::close);
        runner.close();
        clientDevice.close();
        devices.forEach(VerbsDevice::close);
        assertNull(failure.get());
    }
}
