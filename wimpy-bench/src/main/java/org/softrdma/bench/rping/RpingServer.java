package org.softrdma.bench.rping;

import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * The end that is pinged. A ping is five steps:
 *
 * <ol>
 *   <li>the client's message advertises its source, and this end READs it;
 *   <li>it SENDs "go ahead";
 *   <li>the client's message advertises its sink, and this end WRITEs there what it has read, up to the closing NUL;
 *   <li>it SENDs "go ahead";
 *   <li>the client begins again, or disconnects.
 * </ol>
 *
 * <p>{@link #serveOne} serves on the calling thread; {@link #serveAll} gives each client a thread, except on a device in
 * manual progress, where clients take turns. {@link #close} may be called by any thread.
 */
public final class RpingServer implements AutoCloseable {
    private static final int BACKLOG = 128;
    private static final long WAIT_NS = TimeUnit.SECONDS.toNanos(60);

    private final VerbsDevice device;
    private final RpingOptions options;
    private final PrintWriter out;
    private final Listener listener;

    /**
     * Listens.
     *
     * @param device its device; the caller closes it after this
     * @param options what to do; the count is the client's business
     * @param out where pings and steps are told
     * @param local where to listen; port 0 picks a free one
     * @throws VerbsException if the address cannot be had
     */
    public RpingServer(VerbsDevice device, RpingOptions options, PrintWriter out, InetSocketAddress local) {
        this.device = device;
        this.options = options;
        this.out = out;
        listener = device.listen(local, BACKLOG);
    }

    /** The address and port in force. */
    public InetSocketAddress localAddress() {
        return listener.localAddress();
    }

    /**
     * Serves one client until it disconnects; returns at once when closed.
     *
     * @throws RpingException if a ping fails or the client goes away within one
     * @throws VerbsException if the client cannot be accepted
     */
    public void serveOne() {
        @Nullable ConnectionRequest request = next();
        if (request != null) {
            serve(request);
        }
    }

    /** Serves every client until it disconnects, and says which failed and why. Returns when closed and the last is done. */
    public void serveAll() {
        try (ExecutorService clients = Executors.newThreadPerTaskExecutor(
                Thread.ofPlatform().name("rping-", 0).factory())) {
            for (ConnectionRequest request = next(); request != null; request = next()) {
                ConnectionRequest taken = request;
                if (device.manualProgress()) {
                    serveOrTell(taken);
                } else {
                    clients.execute(() -> serveOrTell(taken));
                }
            }
        }
    }

    private @Nullable ConnectionRequest next() {
        while (!listener.isClosed()) {
            Optional<ConnectionRequest> request = listener.next(WAIT_NS);
            if (request.isPresent()) {
                return request.get();
            }
        }
        return null;
    }

    private void serveOrTell(ConnectionRequest request) {
        try {
            serve(request);
        } catch (RpingException | VerbsException e) {
            say("client " + request.remoteAddress() + ": " + e.getMessage());
        }
    }

    private void serve(ConnectionRequest accepted) {
        try (ConnectionRequest request = accepted;
                RpingEndpoint endpoint = new RpingEndpoint(device, options, out)) {
            MemoryRegion region =
                    endpoint.register(options.size(), Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.READ_SINK));
            endpoint.create(request::createQueuePair);
            request.accept(ConnectionParameters.ofReads(1));
            endpoint.debug(
                    "accepted %s, %s",
                    request.remoteAddress(),
                    endpoint.queuePair().connectionCapabilities().wire());
            if (endpoint.queuePair().connectionCapabilities().maxOutboundReads().orElse(1) == 0) {
                throw new RpingException("this connection allows no READ, so no ping can be fetched ("
                        + endpoint.queuePair().connectionCapabilities().wire() + ")");
            }
            PingText text = new PingText(options.size());
            int ping = 0;
            while (serve(endpoint, region, text, ping)) {
                ping++;
            }
            endpoint.debug("the client disconnected after %d pings%s", ping, endpoint.reason());
        }
    }

    /** Serves a ping; false if the client has disconnected instead. */
    private boolean serve(RpingEndpoint endpoint, MemoryRegion region, PingText text, int ping) {
        @Nullable RemoteRegion source = endpoint.receive();
        if (source == null) {
            return false;
        }
        if (source.length() > region.length()) {
            throw new RpingException("the client pings with " + source.length() + " bytes, this server takes "
                    + region.length() + ": give it -S " + source.length());
        }
        requirePeer(endpoint, endpoint.read(region, source), ping);
        var data = region.memory().asSlice(0, source.length());
        if (options.validate()) {
            long mismatch = text.mismatch(data, ping);
            if (mismatch >= 0) {
                throw new RpingException("ping " + ping + " is not what rping sends, first at byte " + mismatch);
            }
        }
        if (options.verbose()) {
            endpoint.say("server ping data: " + PingText.text(data));
        }
        endpoint.send(source);
        @Nullable RemoteRegion sink = endpoint.receive();
        requirePeer(endpoint, sink != null && endpoint.write(region, PingText.length(data), sink), ping);
        endpoint.send(source);
        return true;
    }

    private static void requirePeer(RpingEndpoint endpoint, boolean present, int ping) {
        if (!present) {
            throw new RpingException("the client went away during ping " + ping + endpoint.reason());
        }
    }

    private void say(String line) {
        out.println(line);
        out.flush();
    }

    /** Stops listening; clients that are being served go on to their end. Idempotent. */
    @Override
    public void close() {
        listener.close();
    }
}
