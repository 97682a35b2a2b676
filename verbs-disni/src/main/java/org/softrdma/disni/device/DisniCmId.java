package org.softrdma.disni.device;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetSocketAddress;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import org.softrdma.disni.library.DisniLibrary;
import org.softrdma.ibverbs.SocketAddressText;
import org.softrdma.ibverbs.device.CmEvent;
import org.softrdma.ibverbs.device.CmId;
import org.softrdma.ibverbs.device.ConnectionFailures;
import org.softrdma.ibverbs.device.ConnectionThread;
import org.softrdma.ibverbs.device.IbvQueuePair;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionParameters;

/**
 * A {@code rdma_cm_id} of DiSNI. DiSNI has no {@code rdma_reject} and no private data, and connects with the device's
 * READ depths.
 */
final class DisniCmId extends CmId {
    private static final System.Logger LOG = System.getLogger(DisniCmId.class.getName());

    private final InetSocketAddress address;
    private final DisniLibrary.Id handle;
    /** This side requested no READs in flight. The device grants its maximum whatever was requested. */
    private volatile boolean readless;

    /**
     * Wraps a native id.
     *
     * @param address of the device, with port 0
     * @param thread takes its events
     * @param handle of the id, also the key by which events name it
     */
    DisniCmId(InetSocketAddress address, ConnectionThread thread, DisniLibrary.Id handle) {
        super(thread, handle);
        this.address = address;
        this.handle = handle;
    }

    @Override
    public InetSocketAddress localAddress() {
        return DisniErrors.make(handle::source, "the local address");
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return DisniErrors.make(handle::destination, "the peer's address");
    }

    /** It listens on the device's own address only. */
    @Override
    protected boolean isOfDevice() {
        return true;
    }

    // ---- resolving and listening

    /** Refuses IPv6: DiSNI would cut the address to its first 4 bytes. */
    static void checkVersion(InetSocketAddress address) {
        if (!(address.getAddress() instanceof Inet4Address)) {
            throw new VerbsException(
                    VerbsErrorCode.NOT_SUPPORTED,
                    address.getAddress().getHostAddress()
                            + ": DiSNI supports IPv4 only; use an IPv4 address, or the provider rdmacore");
        }
    }

    /** Binds it to the device's address first, because DiSNI passes no source to {@code rdma_resolve_addr}. */
    @Override
    protected void resolveAddress(InetSocketAddress remote, int timeoutMs) {
        checkVersion(remote);
        try {
            handle.bind(address);
            handle.resolveAddress(remote, timeoutMs);
        } catch (IOException e) {
            throw notReached(e, remote);
        }
    }

    @Override
    protected void resolveRoute(InetSocketAddress remote, int timeoutMs) {
        try {
            handle.resolveRoute(timeoutMs);
        } catch (IOException e) {
            throw notReached(e, remote);
        }
    }

    private static VerbsException notReached(IOException cause, InetSocketAddress remote) {
        return new VerbsException(
                VerbsErrorCode.UNREACHABLE,
                DisniErrors.text(cause) + ": this device cannot reach " + SocketAddressText.of(remote),
                cause);
    }

    @Override
    protected void listen(InetSocketAddress local, int backlog) {
        try {
            handle.bind(local);
            handle.listen(backlog);
        } catch (IOException e) {
            throw ConnectionFailures.ofListening(DisniErrors.text(e), DisniErrors.errno(e), local, e);
        }
    }

    // ---- connecting

    @Override
    protected void callConnect(ConnectionParameters parameters, InetSocketAddress remote) {
        readless = parameters.outboundReads() == 0;
        DisniErrors.run(handle::connect, "peer " + SocketAddressText.of(remote));
    }

    @Override
    protected void callAccept(ConnectionParameters parameters) {
        DisniErrors.run(handle::accept, "the request of a peer");
    }

    /** The kernel rejects when the id is destroyed, which is possible only once the native queue pair is gone. */
    @Override
    protected void reject(byte[] privateData, @Nullable IbvQueuePair made) {
        if (made != null) {
            made.destroyRejected();
        }
    }

    @Override
    protected boolean established(IbvQueuePair connected, CmEvent event) {
        return connected.established(readless ? OptionalInt.of(0) : OptionalInt.empty(), OptionalInt.empty());
    }

    @Override
    protected boolean accepted(IbvQueuePair connected, ConnectionParameters parameters) {
        return connected.established(
                parameters.outboundReads() == 0 ? OptionalInt.of(0) : OptionalInt.empty(), OptionalInt.empty());
    }

    @Override
    protected void disconnect() {
        try {
            handle.disconnect();
        } catch (IOException e) {
            LOG.log(System.Logger.Level.DEBUG, "rdma_disconnect: the connection is gone already", e);
        }
    }

    // ---- the queue pair, and the end

    /** {@code rdma_create_qp}. */
    DisniLibrary.Pair createQueuePair(
            DisniLibrary.Domain domain, DisniLibrary.Queue sends, DisniLibrary.Queue receives, QueuePairLimits limits) {
        int maxSend = limits.maxSendWorkRequests();
        int maxReceive = limits.maxReceiveWorkRequests();
        return DisniErrors.make(
                () -> handle.createQueuePair(domain, sends, receives, maxSend, maxReceive, limits.maxInline()),
                "the device refuses a queue pair of " + maxSend + " sends, " + maxReceive + " RECVs and "
                        + limits.maxInline() + " inline bytes; request less");
    }

    @Override
    protected void callDestroyQueuePair() {
        DisniErrors.close(handle::destroyQueuePair, "a queue pair that is closed");
    }

    /** Excludes events, because DiSNI uses the listener of a request that it has acknowledged already. */
    @Override
    protected void destroy() {
        exclusively(this::destroyHandle);
    }

    /** Only logs a failure: no caller could do anything about it. */
    private void destroyHandle() {
        try {
            handle.destroy();
        } catch (IOException e) {
            LOG.log(System.Logger.Level.WARNING, "cannot destroy a connection id", e);
        }
    }
}
