package org.softrdma.rdmacore.device;

import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import org.softrdma.ibverbs.Deadline;
import org.softrdma.ibverbs.Errno;
import org.softrdma.ibverbs.SocketAddressText;
import org.softrdma.ibverbs.device.CmEvent;
import org.softrdma.ibverbs.device.CmId;
import org.softrdma.ibverbs.device.ConnectionFailures;
import org.softrdma.ibverbs.device.ConnectionThread;
import org.softrdma.ibverbs.device.IbvQueuePair;
import org.softrdma.rdmacore.abi.CMemory;
import org.softrdma.rdmacore.abi.ConnectionManagerAbi;
import org.softrdma.rdmacore.abi.SocketAddresses;
import org.softrdma.rdmacore.abi.VerbsLibrary;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.DatagramService;

/** A {@code rdma_cm_id} by its pointer. */
final class CoreCmId extends CmId {
    /**
     * How often to retry reaching a silent peer. 7, the maximum of rdma_connect(3), means for ever on rxe (rxe_comp.c).
     */
    static final byte RETRIES = 6;
    /** For ever: a SEND waits for its RECV; rdma_connect(3). */
    static final byte RNR_RETRIES = 7;
    /**
     * InfiniBand and RoCE retry after 4.096 us shifted left by this, 0.54 s, and give up a silent peer after
     * {@link #RETRIES} retries. The kernel's own choice is four to eight times as long (CMA_IBOE_PACKET_LIFETIME).
     */
    static final int ACK_TIMEOUT_SHIFT = 17;

    private final DeviceContext device;
    private final VerbsLibrary library;
    private final long pointer;

    /**
     * Wraps a native id.
     *
     * @param thread takes its events
     * @param pointer of the id, also the key by which events name it
     */
    CoreCmId(DeviceContext device, ConnectionThread thread, long pointer) {
        super(thread, pointer);
        this.device = device;
        this.pointer = pointer;
        library = device.library();
    }

    @Override
    public InetSocketAddress localAddress() {
        return SocketAddresses.read(pointer + ConnectionManagerAbi.ID_SOURCE);
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return SocketAddresses.read(pointer + ConnectionManagerAbi.ID_DESTINATION);
    }

    /** The context of its device; 0 before it is known. */
    private long context() {
        return CMemory.getLong(pointer + ConnectionManagerAbi.ID_CONTEXT);
    }

    @Override
    protected boolean isOfDevice() {
        return context() == device.context();
    }

    // ---- resolving and listening

    @Override
    protected void resolve(InetSocketAddress remote, Deadline deadline) {
        super.resolve(remote, deadline);
        if (!isOfDevice()) {
            throw new VerbsException(
                    VerbsErrorCode.UNREACHABLE,
                    SocketAddressText.of(remote) + " is reached by " + ContextProbe.nameOf(context()) + ", not by "
                            + ContextProbe.nameOf(device.context())
                            + "; open that device, or set the option address to an address of this one");
        }
    }

    @Override
    protected void resolveAddress(InetSocketAddress remote, int timeoutMs) {
        try (Arena arena = Arena.ofConfined()) {
            long source = device.address().map(from -> address(arena, from)).orElse(0L);
            requireWay(
                    "rdma_resolve_addr",
                    library.resolveAddress(pointer, source, address(arena, remote), timeoutMs),
                    remote);
        }
    }

    @Override
    protected void resolveRoute(InetSocketAddress remote, int timeoutMs) {
        library.setAckTimeout(pointer, ACK_TIMEOUT_SHIFT); // kernels before 5.3 refuse this, and keep their own timeout
        requireWay("rdma_resolve_route", library.resolveRoute(pointer, timeoutMs), remote);
    }

    private static void requireWay(String function, int errno, InetSocketAddress remote) {
        if (errno != 0) {
            throw new VerbsException(
                    VerbsErrorCode.UNREACHABLE,
                    function + ": " + Errno.text(errno) + ": no RDMA device can reach " + SocketAddressText.of(remote));
        }
    }

    @Override
    protected void listen(InetSocketAddress local, int backlog) {
        try (Arena arena = Arena.ofConfined()) {
            requireBound("rdma_bind_addr", library.bindAddress(pointer, address(arena, local)), local);
        }
        requireBound("rdma_listen", library.listen(pointer, backlog), local);
    }

    private static void requireBound(String function, int errno, InetSocketAddress local) {
        if (errno != 0) {
            throw ConnectionFailures.ofListening(function + ": " + Errno.text(errno), errno, local, null);
        }
    }

    private static long address(Arena arena, InetSocketAddress address) {
        long to = arena.allocate(ConnectionManagerAbi.SOCKET_ADDRESS_BYTES, Long.BYTES)
                .address();
        SocketAddresses.write(to, address);
        return to;
    }

    // ---- connecting

    @Override
    protected void callConnect(ConnectionParameters parameters, InetSocketAddress remote) {
        try (Arena arena = Arena.ofConfined()) {
            requireConnected("rdma_connect", library.connect(pointer, parameters(arena, parameters)), remote);
        }
    }

    @Override
    protected void callAccept(ConnectionParameters parameters) {
        library.setAckTimeout(pointer, ACK_TIMEOUT_SHIFT);
        try (Arena arena = Arena.ofConfined()) {
            requireConnected("rdma_accept", library.accept(pointer, parameters(arena, parameters)), remoteAddress());
        }
    }

    @Override
    protected void answer(DatagramService offered) {
        ConnectionParameters answer = new ConnectionParameters(0, 0, offered.privateData());
        try (Arena arena = Arena.ofConfined()) {
            long to = parameters(arena, answer);
            CMemory.putInt(to + ConnectionManagerAbi.PARAMETERS_QUEUE_PAIR, offered.number());
            requireConnected("rdma_accept", library.accept(pointer, to), remoteAddress());
        }
    }

    private static void requireConnected(String function, int errno, InetSocketAddress remote) {
        if (errno != 0) {
            throw NativeErrors.failed(function, errno, "peer " + SocketAddressText.of(remote));
        }
    }

    @Override
    protected void reject(byte[] privateData, @Nullable IbvQueuePair made) {
        try (Arena arena = Arena.ofConfined()) {
            library.reject(pointer, data(arena, privateData), privateData.length);
        }
        if (made != null) {
            made.enterError("the connection request was rejected");
        }
    }

    private static long parameters(Arena arena, ConnectionParameters from) {
        long to = arena.allocate(ConnectionManagerAbi.PARAMETERS).address();
        byte[] data = from.privateData();
        CMemory.putLong(to + ConnectionManagerAbi.PARAMETERS_DATA, data(arena, data));
        CMemory.putByte(to + ConnectionManagerAbi.PARAMETERS_DATA_LENGTH, (byte) data.length);
        CMemory.putByte(to + ConnectionManagerAbi.PARAMETERS_RESPONDER_RESOURCES, (byte) from.inboundReads());
        CMemory.putByte(to + ConnectionManagerAbi.PARAMETERS_INITIATOR_DEPTH, (byte) from.outboundReads());
        CMemory.putByte(to + ConnectionManagerAbi.PARAMETERS_FLOW_CONTROL, (byte) 1);
        CMemory.putByte(to + ConnectionManagerAbi.PARAMETERS_RETRIES, RETRIES);
        CMemory.putByte(to + ConnectionManagerAbi.PARAMETERS_RNR_RETRIES, RNR_RETRIES);
        return to;
    }

    private static long data(Arena arena, byte[] bytes) {
        if (bytes.length == 0) {
            return 0;
        }
        long to = arena.allocate(bytes.length).address();
        CMemory.putBytes(to, bytes);
        return to;
    }

    @Override
    protected boolean established(IbvQueuePair connected, CmEvent event) {
        if (device.isSoftIwarp()) {
            // siw reports its own READ depths where cma_iw_handler expects the peer's, so they arrive exchanged.
            return connected.established(event.responderResources(), event.initiatorDepth());
        }
        // rdma_get_cm_event(3): here the initiator depth is this side's, the responder resources are the peer's.
        return connected.established(event.initiatorDepth(), event.responderResources());
    }

    @Override
    protected boolean accepted(IbvQueuePair connected, ConnectionParameters parameters) {
        return connected.established(
                OptionalInt.of(parameters.outboundReads()), OptionalInt.of(parameters.inboundReads()));
    }

    @Override
    protected void disconnect() {
        library.disconnect(pointer);
    }

    // ---- the queue pair, and the end

    /** {@code rdma_create_qp}; returns its pointer. */
    long createQueuePair(long domain, long attributes) {
        int errno = library.createQueuePair(pointer, domain, attributes);
        if (errno != 0) {
            throw NativeErrors.failed(
                    "rdma_create_qp", errno, "the device refuses a queue pair of this size; request less");
        }
        return CMemory.getLong(pointer + ConnectionManagerAbi.ID_QUEUE_PAIR);
    }

    @Override
    protected void callDestroyQueuePair() {
        library.destroyQueuePairOf(pointer);
    }

    @Override
    protected void destroy() {
        library.destroyId(pointer);
    }
}
