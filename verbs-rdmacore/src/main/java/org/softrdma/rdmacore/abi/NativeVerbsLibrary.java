package org.softrdma.rdmacore.abi;

import static org.softrdma.rdmacore.abi.CFunction.BYTE;
import static org.softrdma.rdmacore.abi.CFunction.Failure.COUNT_OR_ERRNO;
import static org.softrdma.rdmacore.abi.CFunction.Failure.ERRNO_RETURNED;
import static org.softrdma.rdmacore.abi.CFunction.Failure.MINUS_ONE_AND_ERRNO;
import static org.softrdma.rdmacore.abi.CFunction.Failure.NONE;
import static org.softrdma.rdmacore.abi.CFunction.Failure.NULL_AND_ERRNO;
import static org.softrdma.rdmacore.abi.CFunction.Failure.REREGISTERED;
import static org.softrdma.rdmacore.abi.CFunction.INT;
import static org.softrdma.rdmacore.abi.CFunction.WORD;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.NoSuchElementException;
import java.util.Set;
import org.softrdma.ibverbs.LibraryUnavailableException;

/** The C functions themselves, in the distribution's libibverbs and librdmacm. Thread-safe. */
public final class NativeVerbsLibrary implements VerbsLibrary {
    private static final String VERBS = "libibverbs.so.1";
    private static final String CONNECTION_MANAGER = "librdmacm.so.1";
    private static final Set<String> MACHINES = Set.of("x86_64", "aarch64");
    /** {@code struct utsname}: six strings of 65 bytes; the fifth names the machine. */
    private static final int UTSNAME_FIELD_BYTES = 65;

    private static final int UTSNAME_FIELDS = 6;
    private static final int F_GETFL = 3;
    private static final int F_SETFL = 4;
    private static final int O_NONBLOCK = 0x800;
    private static final int EFD_CLOEXEC_NONBLOCK = 0x80000 | O_NONBLOCK;

    // librdmacm
    private final CFunction getDevices;
    private final CFunction freeDevices;
    private final CFunction createEventChannel;
    private final CFunction destroyEventChannel;
    private final CFunction createId;
    private final CFunction destroyId;
    private final CFunction bindAddress;
    private final CFunction listen;
    private final CFunction resolveAddress;
    private final CFunction resolveRoute;
    private final CFunction createQueuePairOf;
    private final CFunction destroyQueuePairOf;
    private final CFunction setOption;
    private final CFunction connect;
    private final CFunction accept;
    private final CFunction reject;
    private final CFunction disconnect;
    private final CFunction getConnectionEvent;
    private final CFunction acknowledgeConnectionEvent;
    // libibverbs
    private final CFunction deviceName;
    private final CFunction queryDevice;
    private final CFunction queryPort;
    private final CFunction queryGid;
    private final CFunction createAddressHandle;
    private final CFunction destroyAddressHandle;
    private final CFunction allocateDomain;
    private final CFunction deallocateDomain;
    private final CFunction registerRegion;
    private final CFunction reregisterRegion;
    private final CFunction deregisterRegion;
    private final CFunction createCompletionChannel;
    private final CFunction destroyCompletionChannel;
    private final CFunction createCompletionQueue;
    private final CFunction resizeCompletionQueue;
    private final CFunction destroyCompletionQueue;
    private final CFunction getCompletionEvent;
    private final CFunction acknowledgeCompletionEvents;
    private final CFunction getAsyncEvent;
    private final CFunction acknowledgeAsyncEvent;
    private final CFunction createSharedReceiveQueue;
    private final CFunction modifySharedReceiveQueue;
    private final CFunction destroySharedReceiveQueue;
    private final CFunction createQueuePair;
    private final CFunction modifyQueuePair;
    private final CFunction destroyQueuePair;
    // libc
    private final CFunction poll;
    private final CFunction fcntl;
    private final CFunction eventfd;
    private final CFunction read;
    private final CFunction write;
    private final CFunction close;

    private NativeVerbsLibrary(SymbolLookup verbs, SymbolLookup connections, SymbolLookup c) {
        getDevices = new CFunction(connections, "rdma_get_devices", NULL_AND_ERRNO, WORD, WORD);
        freeDevices = new CFunction(connections, "rdma_free_devices", NONE, null, WORD);
        createEventChannel = new CFunction(connections, "rdma_create_event_channel", NULL_AND_ERRNO, WORD);
        destroyEventChannel = new CFunction(connections, "rdma_destroy_event_channel", NONE, null, WORD);
        createId = new CFunction(connections, "rdma_create_id", MINUS_ONE_AND_ERRNO, INT, WORD, WORD, WORD, INT);
        destroyId = new CFunction(connections, "rdma_destroy_id", MINUS_ONE_AND_ERRNO, INT, WORD);
        bindAddress = new CFunction(connections, "rdma_bind_addr", MINUS_ONE_AND_ERRNO, INT, WORD, WORD);
        listen = new CFunction(connections, "rdma_listen", MINUS_ONE_AND_ERRNO, INT, WORD, INT);
        resolveAddress =
                new CFunction(connections, "rdma_resolve_addr", MINUS_ONE_AND_ERRNO, INT, WORD, WORD, WORD, INT);
        resolveRoute = new CFunction(connections, "rdma_resolve_route", MINUS_ONE_AND_ERRNO, INT, WORD, INT);
        createQueuePairOf = new CFunction(connections, "rdma_create_qp", MINUS_ONE_AND_ERRNO, INT, WORD, WORD, WORD);
        destroyQueuePairOf = new CFunction(connections, "rdma_destroy_qp", NONE, null, WORD);
        setOption = new CFunction(connections, "rdma_set_option", MINUS_ONE_AND_ERRNO, INT, WORD, INT, INT, WORD, WORD);
        connect = new CFunction(connections, "rdma_connect", MINUS_ONE_AND_ERRNO, INT, WORD, WORD);
        accept = new CFunction(connections, "rdma_accept", MINUS_ONE_AND_ERRNO, INT, WORD, WORD);
        reject = new CFunction(connections, "rdma_reject", MINUS_ONE_AND_ERRNO, INT, WORD, WORD, BYTE);
        disconnect = new CFunction(connections, "rdma_disconnect", MINUS_ONE_AND_ERRNO, INT, WORD);
        getConnectionEvent = new CFunction(connections, "rdma_get_cm_event", MINUS_ONE_AND_ERRNO, INT, WORD, WORD);
        acknowledgeConnectionEvent = new CFunction(connections, "rdma_ack_cm_event", MINUS_ONE_AND_ERRNO, INT, WORD);

        deviceName = new CFunction(verbs, "ibv_get_device_name", NONE, WORD, WORD);
        queryDevice = new CFunction(verbs, "ibv_query_device", ERRNO_RETURNED, INT, WORD, WORD);
        queryPort = new CFunction(verbs, "ibv_query_port", ERRNO_RETURNED, INT, WORD, BYTE, WORD);
        queryGid = new CFunction(verbs, "ibv_query_gid", MINUS_ONE_AND_ERRNO, INT, WORD, BYTE, INT, WORD);
        createAddressHandle = new CFunction(verbs, "ibv_create_ah", NULL_AND_ERRNO, WORD, WORD, WORD);
        destroyAddressHandle = new CFunction(verbs, "ibv_destroy_ah", ERRNO_RETURNED, INT, WORD);
        allocateDomain = new CFunction(verbs, "ibv_alloc_pd", NULL_AND_ERRNO, WORD, WORD);
        deallocateDomain = new CFunction(verbs, "ibv_dealloc_pd", ERRNO_RETURNED, INT, WORD);
        registerRegion = new CFunction(verbs, "ibv_reg_mr_iova2", NULL_AND_ERRNO, WORD, WORD, WORD, WORD, WORD, INT);
        reregisterRegion = new CFunction(verbs, "ibv_rereg_mr", REREGISTERED, INT, WORD, INT, WORD, WORD, WORD, INT);
        deregisterRegion = new CFunction(verbs, "ibv_dereg_mr", ERRNO_RETURNED, INT, WORD);
        createCompletionChannel = new CFunction(verbs, "ibv_create_comp_channel", NULL_AND_ERRNO, WORD, WORD);
        destroyCompletionChannel = new CFunction(verbs, "ibv_destroy_comp_channel", ERRNO_RETURNED, INT, WORD);
        createCompletionQueue = new CFunction(verbs, "ibv_create_cq", NULL_AND_ERRNO, WORD, WORD, INT, WORD, WORD, INT);
        resizeCompletionQueue = new CFunction(verbs, "ibv_resize_cq", ERRNO_RETURNED, INT, WORD, INT);
        destroyCompletionQueue = new CFunction(verbs, "ibv_destroy_cq", ERRNO_RETURNED, INT, WORD);
        getCompletionEvent = new CFunction(verbs, "ibv_get_cq_event", MINUS_ONE_AND_ERRNO, INT, WORD, WORD, WORD);
        acknowledgeCompletionEvents = new CFunction(verbs, "ibv_ack_cq_events", NONE, null, WORD, INT);
        getAsyncEvent = new CFunction(verbs, "ibv_get_async_event", MINUS_ONE_AND_ERRNO, INT, WORD, WORD);
        acknowledgeAsyncEvent = new CFunction(verbs, "ibv_ack_async_event", NONE, null, WORD);
        createSharedReceiveQueue = new CFunction(verbs, "ibv_create_srq", NULL_AND_ERRNO, WORD, WORD, WORD);
        modifySharedReceiveQueue = new CFunction(verbs, "ibv_modify_srq", ERRNO_RETURNED, INT, WORD, WORD, INT);
        destroySharedReceiveQueue = new CFunction(verbs, "ibv_destroy_srq", ERRNO_RETURNED, INT, WORD);
        createQueuePair = new CFunction(verbs, "ibv_create_qp", NULL_AND_ERRNO, WORD, WORD, WORD);
        modifyQueuePair = new CFunction(verbs, "ibv_modify_qp", ERRNO_RETURNED, INT, WORD, WORD, INT);
        destroyQueuePair = new CFunction(verbs, "ibv_destroy_qp", ERRNO_RETURNED, INT, WORD);

        poll = new CFunction(c, "poll", COUNT_OR_ERRNO, INT, WORD, WORD, INT);
        fcntl = new CFunction(c, "fcntl", COUNT_OR_ERRNO, INT, INT, INT, WORD);
        eventfd = new CFunction(c, "eventfd", COUNT_OR_ERRNO, INT, INT, INT);
        read = new CFunction(c, "read", COUNT_OR_ERRNO, WORD, INT, WORD, WORD);
        write = new CFunction(c, "write", COUNT_OR_ERRNO, WORD, INT, WORD, WORD);
        close = new CFunction(c, "close", MINUS_ONE_AND_ERRNO, INT, INT);
    }

    /**
     * Loads the two libraries for the life of this process.
     *
     * @throws LibraryUnavailableException says what is missing and what to do
     */
    @SuppressWarnings("restricted")
    public static NativeVerbsLibrary load() throws LibraryUnavailableException {
        try {
            requireKnownMachine();
            SymbolLookup verbs = library(VERBS, "libibverbs1");
            SymbolLookup connections = library(CONNECTION_MANAGER, "librdmacm1");
            return new NativeVerbsLibrary(
                    verbs, connections, Linker.nativeLinker().defaultLookup());
        } catch (IllegalCallerException e) {
            throw new LibraryUnavailableException(
                    "this JVM denies native access: " + e.getMessage(),
                    "start java with --enable-native-access=ALL-UNNAMED",
                    e);
        } catch (NoSuchElementException e) {
            throw new LibraryUnavailableException(
                    VERBS + " or " + CONNECTION_MANAGER + " lacks a function of rdma-core 28 or later: "
                            + e.getMessage(),
                    "install the rdma-core of a current distribution",
                    e);
        } catch (UnsupportedOperationException e) {
            throw new LibraryUnavailableException(
                    "this JVM cannot call C functions: " + e.getMessage(),
                    "use a JDK for Linux on x86-64 or aarch64",
                    e);
        }
    }

    /** The layouts of this package are valid only for LP64 little-endian Linux on two architectures. */
    private static void requireKnownMachine() throws LibraryUnavailableException {
        MemoryLayout cLong = Linker.nativeLinker().canonicalLayouts().get("long");
        boolean lp64 = ValueLayout.ADDRESS.byteSize() == Long.BYTES && cLong != null && cLong.byteSize() == Long.BYTES;
        String machine = "an unknown machine";
        String system = "an unknown system";
        if (lp64) {
            SymbolLookup c = Linker.nativeLinker().defaultLookup();
            try (Arena arena = Arena.ofConfined()) {
                long names = arena.allocate((long) UTSNAME_FIELDS * UTSNAME_FIELD_BYTES)
                        .address();
                new CFunction(c, "uname", MINUS_ONE_AND_ERRNO, INT, WORD).call(names);
                system = CMemory.getString(names, UTSNAME_FIELD_BYTES);
                machine = CMemory.getString(names + 4L * UTSNAME_FIELD_BYTES, UTSNAME_FIELD_BYTES);
            }
        }
        if (!lp64
                || ByteOrder.nativeOrder() != ByteOrder.LITTLE_ENDIAN
                || !system.equals("Linux")
                || !MACHINES.contains(machine)) {
            throw new LibraryUnavailableException(
                    "only the libibverbs of 64-bit Linux on x86_64 and aarch64 is supported, this is " + system + " on "
                            + machine + (lp64 ? "" : " without 64-bit longs and pointers"),
                    "use the provider sim here");
        }
    }

    @SuppressWarnings("restricted")
    private static SymbolLookup library(String name, String debianPackage) throws LibraryUnavailableException {
        try {
            return SymbolLookup.libraryLookup(name, Arena.global());
        } catch (IllegalArgumentException e) {
            throw new LibraryUnavailableException(
                    name + " is not installed, or cannot be loaded",
                    "install rdma-core (Debian: apt-get install " + debianPackage
                            + " ibverbs-providers; Fedora: dnf install libibverbs librdmacm)",
                    e);
        }
    }

    // ---- librdmacm

    @Override
    public long getDevices() {
        return getDevices.call(0);
    }

    @Override
    public void freeDevices(long devices) {
        freeDevices.call(devices);
    }

    @Override
    public long createEventChannel() {
        return createEventChannel.call();
    }

    @Override
    public void destroyEventChannel(long channel) {
        destroyEventChannel.call(channel);
    }

    @Override
    public long createId(long channel, long cookie, int portSpace) {
        return out(pointer -> createId.call(channel, pointer, cookie, portSpace));
    }

    @Override
    public int destroyId(long id) {
        return (int) destroyId.call(id);
    }

    @Override
    public int bindAddress(long id, long socketAddress) {
        return (int) bindAddress.call(id, socketAddress);
    }

    @Override
    public int listen(long id, int backlog) {
        return (int) listen.call(id, backlog);
    }

    @Override
    public int resolveAddress(long id, long source, long destination, int timeoutMs) {
        return (int) resolveAddress.call(id, source, destination, timeoutMs);
    }

    @Override
    public int resolveRoute(long id, int timeoutMs) {
        return (int) resolveRoute.call(id, timeoutMs);
    }

    @Override
    public int createQueuePair(long id, long domain, long attributes) {
        return (int) createQueuePairOf.call(id, domain, attributes);
    }

    @Override
    public void destroyQueuePairOf(long id) {
        destroyQueuePairOf.call(id);
    }

    @Override
    public int setAckTimeout(long id, int shift) {
        try (Arena arena = Arena.ofConfined()) {
            long value = arena.allocateFrom(ValueLayout.JAVA_BYTE, (byte) shift).address();
            return (int) setOption.call(
                    id,
                    ConnectionManagerAbi.OPTION_LEVEL_ID,
                    ConnectionManagerAbi.OPTION_ACK_TIMEOUT,
                    value,
                    Byte.BYTES);
        }
    }

    @Override
    public int connect(long id, long parameters) {
        return (int) connect.call(id, parameters);
    }

    @Override
    public int accept(long id, long parameters) {
        return (int) accept.call(id, parameters);
    }

    @Override
    public int reject(long id, long privateData, int length) {
        return (int) reject.call(id, privateData, length);
    }

    @Override
    public int disconnect(long id) {
        return (int) disconnect.call(id);
    }

    @Override
    public long getConnectionEvent(long channel) {
        return out(pointer -> getConnectionEvent.call(channel, pointer));
    }

    @Override
    public int acknowledgeConnectionEvent(long event) {
        return (int) acknowledgeConnectionEvent.call(event);
    }

    // ---- libibverbs

    @Override
    public long deviceName(long device) {
        return deviceName.call(device);
    }

    @Override
    public int queryDevice(long context, long attributes) {
        return (int) queryDevice.call(context, attributes);
    }

    @Override
    public int queryPort(long context, int port, long attributes) {
        return (int) queryPort.call(context, port, attributes);
    }

    @Override
    public int queryGid(long context, int port, int index, long gid) {
        return (int) queryGid.call(context, port, index, gid);
    }

    @Override
    public long createAddressHandle(long domain, long attributes) {
        return createAddressHandle.call(domain, attributes);
    }

    @Override
    public int destroyAddressHandle(long handle) {
        return (int) destroyAddressHandle.call(handle);
    }

    @Override
    public long allocateDomain(long context) {
        return allocateDomain.call(context);
    }

    @Override
    public int deallocateDomain(long domain) {
        return (int) deallocateDomain.call(domain);
    }

    @Override
    public long registerRegion(long domain, long address, long length, long iova, int access) {
        return registerRegion.call(domain, address, length, iova, access);
    }

    @Override
    public int reregisterRegion(long region, int changes, long domain, long address, long length, int access) {
        return (int) reregisterRegion.call(region, changes, domain, address, length, access);
    }

    @Override
    public int deregisterRegion(long region) {
        return (int) deregisterRegion.call(region);
    }

    @Override
    public long createCompletionChannel(long context) {
        return createCompletionChannel.call(context);
    }

    @Override
    public int destroyCompletionChannel(long channel) {
        return (int) destroyCompletionChannel.call(channel);
    }

    @Override
    public long createCompletionQueue(long context, int entries, long cookie, long channel, int vector) {
        return createCompletionQueue.call(context, entries, cookie, channel, vector);
    }

    @Override
    public int resizeCompletionQueue(long queue, int entries) {
        return (int) resizeCompletionQueue.call(queue, entries);
    }

    @Override
    public int destroyCompletionQueue(long queue) {
        return (int) destroyCompletionQueue.call(queue);
    }

    @Override
    public long getCompletionEvent(long channel) {
        return out(pointer -> getCompletionEvent.call(channel, pointer, pointer + Long.BYTES));
    }

    @Override
    public void acknowledgeCompletionEvents(long queue, int count) {
        acknowledgeCompletionEvents.call(queue, count);
    }

    @Override
    public int getAsyncEvent(long context, long event) {
        return (int) getAsyncEvent.call(context, event);
    }

    @Override
    public void acknowledgeAsyncEvent(long event) {
        acknowledgeAsyncEvent.call(event);
    }

    @Override
    public long createSharedReceiveQueue(long domain, long attributes) {
        return createSharedReceiveQueue.call(domain, attributes);
    }

    @Override
    public int modifySharedReceiveQueue(long queue, long attributes, int mask) {
        return (int) modifySharedReceiveQueue.call(queue, attributes, mask);
    }

    @Override
    public int destroySharedReceiveQueue(long queue) {
        return (int) destroySharedReceiveQueue.call(queue);
    }

    @Override
    public long createQueuePair(long domain, long attributes) {
        return createQueuePair.call(domain, attributes);
    }

    @Override
    public int modifyQueuePair(long queuePair, long attributes, int mask) {
        return (int) modifyQueuePair.call(queuePair, attributes, mask);
    }

    @Override
    public int destroyQueuePair(long queuePair) {
        return (int) destroyQueuePair.call(queuePair);
    }

    @Override
    public Operations operations(long context) {
        return new NativeOperations(context);
    }

    // ---- libc

    @Override
    public int poll(long descriptors, int count, int timeoutMs) {
        return (int) poll.call(descriptors, count, timeoutMs);
    }

    @Override
    public int setNonBlocking(int descriptor) {
        long flags = fcntl.call(descriptor, F_GETFL, 0);
        long result = flags < 0 ? flags : fcntl.call(descriptor, F_SETFL, flags | O_NONBLOCK);
        return (int) -Math.min(0, result);
    }

    @Override
    public int createWakeDescriptor() {
        return (int) eventfd.call(0, EFD_CLOEXEC_NONBLOCK);
    }

    @Override
    public void wake(int descriptor) {
        try (Arena arena = Arena.ofConfined()) {
            long one = arena.allocateFrom(ValueLayout.JAVA_LONG, 1L).address();
            write.call(descriptor, one, Long.BYTES);
        }
    }

    @Override
    public void quiet(int descriptor) {
        try (Arena arena = Arena.ofConfined()) {
            read.call(descriptor, arena.allocate(ValueLayout.JAVA_LONG).address(), Long.BYTES);
        }
    }

    @Override
    public void closeDescriptor(int descriptor) {
        close.call(descriptor);
    }

    /** Calls a function that returns a pointer through its argument: the pointer, or the negated errno. */
    private static long out(PointerCall call) {
        try (Arena arena = Arena.ofConfined()) {
            long pointer = arena.allocate(2L * Long.BYTES, Long.BYTES).address();
            long errno = call.call(pointer);
            return errno == 0 ? CMemory.getLong(pointer) : -errno;
        }
    }

    @FunctionalInterface
    private interface PointerCall {
        long call(long pointer);
    }
}
