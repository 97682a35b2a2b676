package org.softrdma.kv.server;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Locale;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.softrdma.kv.client.KvClient;
import org.softrdma.kv.client.KvClientContext;
import org.softrdma.kv.server.host.PortSettings;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.verbs.device.VerbsDevice;

/** A server on the simulator, on free ports of the loopback address, and a device for clients. */
public final class RunningServer implements AutoCloseable {
    private final VerbsDevice serverDevice;
    private final VerbsDevice clientDevice = new SoftRdmaProvider().open(Map.of());
    private final KvServer server;
    private boolean closed;

    /** How ports do I/O, unless a test says otherwise: by the default, or as the build says that runs tests once more. */
    private static final PortSettings.Io IO = PortSettings.Io.valueOf(
            System.getProperty("softrdma.test.io", "auto").toUpperCase(Locale.ROOT));

    /** A server with defaults and two threads. */
    public RunningServer() {
        this(context -> context);
    }

    /** A server with other settings. */
    public RunningServer(UnaryOperator<KvServerContext> settings) {
        this(settings, Map.of());
    }

    /** A server with other settings, on a device with options. */
    public RunningServer(UnaryOperator<KvServerContext> settings, Map<String, String> deviceOptions) {
        this(settings, deviceOptions, device -> device);
    }

    /** A server with other settings, on a device with options of which it sees something else. */
    RunningServer(
            UnaryOperator<KvServerContext> settings,
            Map<String, String> deviceOptions,
            UnaryOperator<VerbsDevice> seen) {
        serverDevice = new SoftRdmaProvider().open(deviceOptions);
        KvServerContext context = new KvServerContext()
                .memcachedAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .threads(2)
                .io(IO)
                .version("test-1");
        server =
                KvServer.start(seen.apply(serverDevice), settings.apply(context).conclude());
    }

    /** The memcached port. */
    public InetSocketAddress address() {
        return server.memcachedAddress();
    }

    /** The server. */
    public KvServer server() {
        return server;
    }

    /** A device that drives itself, for clients. */
    public VerbsDevice clientDevice() {
        return clientDevice;
    }

    /** A counter of the server's device. */
    public long deviceCounter(String name) {
        return serverDevice.counters().getOrDefault(name, 0L);
    }

    /** A client with defaults. */
    public KvClient client() {
        return KvClient.connect(clientDevice, new KvClientContext(address()).conclude());
    }

    /** Ends the server, as if its process died; clients may still be open. */
    public void stop() {
        if (!closed) {
            closed = true;
            server.close();
            serverDevice.close();
        }
    }

    @Override
    public void close() {
        stop();
        clientDevice.close();
    }
}
