package org.softrdma.bench.rping;

import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * The end that pings. For each ping it advertises the source, waits for the server's READ and "go ahead", advertises the
 * sink, and waits for the server's WRITE and message. It never READs or WRITEs itself. Everything runs on the calling thread.
 */
public final class RpingClient {
    private final RpingOptions options;
    private final RpingEndpoint endpoint;
    private final MemoryRegion source;
    private final MemoryRegion sink;
    private final PingText text;

    private RpingClient(RpingOptions options, RpingEndpoint endpoint) {
        this.options = options;
        this.endpoint = endpoint;
        source = endpoint.register(options.size(), Set.of(AccessFlag.REMOTE_READ));
        sink = endpoint.register(options.size(), Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE));
        text = new PingText(options.size());
    }

    /**
     * Connects, pings, disconnects.
     *
     * @param options what to do; with a count of 0 it returns only by throwing
     * @param out where pings and steps are told
     * @param server where the server listens
     * @throws RpingException if a ping fails or the server goes away before the last one is done
     * @throws org.softrdma.verbs.VerbsException if it cannot be connected
     */
    public static void run(VerbsDevice device, RpingOptions options, PrintWriter out, InetSocketAddress server) {
        try (RpingEndpoint endpoint = new RpingEndpoint(device, options, out)) {
            RpingClient client = new RpingClient(options, endpoint);
            try (Connector connector = device.resolve(server, RpingEndpoint.TIMEOUT_NS)) {
                endpoint.create(connector::createQueuePair);
                connector.connect(ConnectionParameters.ofReads(1), RpingEndpoint.TIMEOUT_NS);
            }
            endpoint.debug(
                    "connected, %s",
                    endpoint.queuePair().connectionCapabilities().wire());
            for (int ping = 0; options.count() == 0 || ping < options.count(); ping++) {
                client.ping(ping);
            }
            endpoint.queuePair().disconnect();
        }
    }

    private void ping(int ping) {
        text.write(source.memory(), ping);
        advertise(source, ping, "READ the ping");
        advertise(sink, ping, "WRITE the ping back");
        if (options.validate()) {
            long mismatch = text.mismatch(sink.memory(), ping);
            if (mismatch >= 0) {
                throw new RpingException("ping " + ping + " came back changed, first at byte " + mismatch);
            }
        }
        if (options.verbose()) {
            endpoint.say("ping data: " + PingText.text(sink.memory()));
        }
    }

    private void advertise(MemoryRegion region, int ping, String whatFor) {
        RemoteRegion advertised = region.remote();
        endpoint.debug(
                "advertise rkey %x address %x length %d", advertised.rkey(), advertised.address(), region.length());
        endpoint.send(advertised);
        @Nullable RemoteRegion answer = endpoint.receive();
        if (answer == null) {
            throw new RpingException("the server went away when it should " + whatFor + " " + ping + endpoint.reason());
        }
    }
}
