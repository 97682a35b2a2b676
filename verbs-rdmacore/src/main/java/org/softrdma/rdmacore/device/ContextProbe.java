package org.softrdma.rdmacore.device;

import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Set;
import org.softrdma.ibverbs.LockedMemory;
import org.softrdma.ibverbs.RegionRights;
import org.softrdma.ibverbs.WireProtocol;
import org.softrdma.rdmacore.abi.AbiMismatchException;
import org.softrdma.rdmacore.abi.CMemory;
import org.softrdma.rdmacore.abi.VerbsAbi;
import org.softrdma.rdmacore.abi.VerbsLibrary;
import org.softrdma.rdmacore.abi.WorkRequestAbi;
import org.softrdma.verbs.Capabilities;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.QueuePairType;

/**
 * What a context is and can do. The probe creates one object of each kind, which also proves that the structures have
 * the layout this provider knows.
 *
 * @param name of the device
 * @param transport its protocol
 * @param softIwarp true for the kernel's SoftiWARP
 * @param capabilities limits and features
 */
record ContextProbe(String name, WireProtocol transport, boolean softIwarp, Capabilities capabilities) {
    /** The kernel's SoftiWARP driver, {@code SIW_VENDOR_ID}. */
    private static final int SIW_VENDOR = 0x626D74;

    /** The smallest of what connect (56), accept (196) and reject (148) carry on InfiniBand; rdma_connect(3). */
    private static final int PRIVATE_DATA = 56;
    /** READ depths have 8 bits; all ones means "the maximum" (RDMA_MAX_RESP_RES). */
    private static final int MAX_READS = 254;

    private static final int MAX_WORK_REQUESTS = 1 << 20;
    private static final int MAX_INLINE = 4096;
    private static final int MAX_VECTORS = 1 << 16;
    private static final long PAGE = 4096;
    private static final int COOKIE = 0x50F7;

    /** Name of the device of a context. */
    static String nameOf(long context) {
        long device = CMemory.getLong(context + VerbsAbi.CONTEXT_DEVICE);
        return CMemory.getString(device + VerbsAbi.DEVICE_NAME, VerbsAbi.DEVICE_NAME_BYTES);
    }

    /**
     * Probes a context.
     *
     * @param provider name of the provider, for the capabilities
     * @param library C functions
     * @param context of {@code rdma_get_devices}
     * @param operations its data path
     * @throws AbiMismatchException if a field is not where it should be
     * @throws org.softrdma.verbs.VerbsException if an object cannot be created
     */
    static ContextProbe of(String provider, VerbsLibrary library, long context, VerbsLibrary.Operations operations) {
        try (Arena arena = Arena.ofConfined()) {
            return new Probing(library, context, operations, arena).probe(provider);
        }
    }

    /** One probe, on the opening thread. */
    private static final class Probing {
        private final VerbsLibrary library;
        private final long context;
        private final VerbsLibrary.Operations operations;
        private final Arena arena;
        private final String name;

        Probing(VerbsLibrary library, long context, VerbsLibrary.Operations operations, Arena arena) {
            this.library = library;
            this.context = context;
            this.operations = operations;
            this.arena = arena;
            requireExtendedContext();
            name = nameOf(context);
        }

        private ContextProbe probe(String provider) {
            requireDevice();
            int transport = CMemory.getInt(device() + VerbsAbi.DEVICE_TRANSPORT);
            require(
                    transport == VerbsAbi.TRANSPORT_INFINIBAND || transport == VerbsAbi.TRANSPORT_IWARP,
                    "ibv_device.transport_type of " + name,
                    transport,
                    "0 (InfiniBand, RoCE) or 1 (iWARP)");
            boolean iwarp = transport == VerbsAbi.TRANSPORT_IWARP;
            long attributes = arena.allocate(VerbsAbi.DEVICE_ATTRIBUTES).address();
            succeed("ibv_query_device", library.queryDevice(context, attributes));
            long port = arena.allocate(VerbsAbi.PORT_ATTRIBUTES).address();
            succeed("ibv_query_port", library.queryPort(context, OwnGid.PORT, port));
            boolean ethernet = CMemory.getByte(port + VerbsAbi.LINK_LAYER) == VerbsAbi.LINK_LAYER_ETHERNET;
            boolean softIwarp = CMemory.getInt(attributes + VerbsAbi.VENDOR_ID) == SIW_VENDOR;
            // siw ignores the requested first address of a region.
            WireProtocol speaks = iwarp ? WireProtocol.IWARP : ethernet ? WireProtocol.ROCE : WireProtocol.INFINIBAND;
            Made made = makeObjects(attributes, !softIwarp, speaks);
            EnumSet<Feature> features = EnumSet.of(Feature.IPV6);
            features.addAll(speaks.connectionFeatures());
            features.addAll(OptionalObjects.told(attributes, speaks, softIwarp));
            features.addAll(made.features);
            if (made.features.contains(Feature.UNRELIABLE_DATAGRAM)) {
                features.add(Feature.DATAGRAM_SERVICES);
            }
            int work = limit(attributes + VerbsAbi.MAX_QP_WR, MAX_WORK_REQUESTS);
            int entries = limit(attributes + VerbsAbi.MAX_SGE, Integer.MAX_VALUE);
            return new ContextProbe(
                    name,
                    speaks,
                    softIwarp,
                    Capabilities.builder(provider, speaks.toString())
                            .maxSendWorkRequests(work)
                            .maxReceiveWorkRequests(work)
                            .maxScatterGather(entries)
                            .maxScatterGatherRead(
                                    iwarp ? 1 : Math.min(entries, limit(attributes + VerbsAbi.MAX_SGE_RD, entries)))
                            .maxInline(made.maxInline)
                            .maxCompletionQueueEntries(limit(attributes + VerbsAbi.MAX_CQE, Integer.MAX_VALUE))
                            .maxMemoryRegions(limit(attributes + VerbsAbi.MAX_MR, Integer.MAX_VALUE))
                            .maxRegionLength(longLimit(CMemory.getLong(attributes + VerbsAbi.MAX_MR_SIZE)))
                            .maxMessageLength(Integer.toUnsignedLong(CMemory.getInt(port + VerbsAbi.MAX_MSG_SZ)))
                            .maxOutboundReads(limit(attributes + VerbsAbi.MAX_QP_INIT_RD_ATOM, MAX_READS))
                            .maxInboundReads(limit(attributes + VerbsAbi.MAX_QP_RD_ATOM, MAX_READS))
                            .maxPrivateData(PRIVATE_DATA)
                            .completionVectors(CMemory.getInt(context + VerbsAbi.CONTEXT_COMP_VECTORS))
                            .maxSharedReceiveWorkRequests(
                                    made.features.contains(Feature.SHARED_RECEIVE_QUEUES)
                                            ? limit(attributes + VerbsAbi.MAX_SRQ_WR, MAX_WORK_REQUESTS)
                                            : 0)
                            .maxMemoryWindows(
                                    made.features.contains(Feature.MEMORY_WINDOWS)
                                            ? limit(attributes + VerbsAbi.MAX_MW, Integer.MAX_VALUE)
                                            : 0)
                            .maxAddressHandles(
                                    made.features.contains(Feature.UNRELIABLE_DATAGRAM)
                                            ? limit(attributes + VerbsAbi.MAX_AH, Integer.MAX_VALUE)
                                            : 0)
                            .maxTransferUnit(
                                    made.features.contains(Feature.CONNECTION_BY_ADDRESS)
                                            ? QueuePairCodes.transferUnit(CMemory.getInt(port + VerbsAbi.ACTIVE_MTU))
                                            : 0)
                            .features(features)
                            .build());
        }

        /** The context itself says that it comes from libibverbs 1.1 or later, and how large it is. */
        private void requireExtendedContext() {
            require(
                    CMemory.getLong(context + VerbsAbi.CONTEXT_ABI_COMPAT) == VerbsAbi.EXTENDED_ABI,
                    "ibv_context.abi_compat",
                    CMemory.getLong(context + VerbsAbi.CONTEXT_ABI_COMPAT),
                    "all ones");
            long size = CMemory.getLong(context + VerbsAbi.CONTEXT_EXTENDED_SIZE);
            require(
                    size >= VerbsAbi.LEAST_EXTENDED_SIZE && size < PAGE,
                    "verbs_context.sz",
                    size,
                    VerbsAbi.LEAST_EXTENDED_SIZE + " to " + PAGE);
            int vectors = CMemory.getInt(context + VerbsAbi.CONTEXT_COMP_VECTORS);
            require(
                    vectors >= 1 && vectors <= MAX_VECTORS,
                    "ibv_context.num_comp_vectors",
                    vectors,
                    "1 to " + MAX_VECTORS);
            requireDescriptor("cmd_fd", VerbsAbi.CONTEXT_CMD_FD);
            requireDescriptor("async_fd", VerbsAbi.CONTEXT_ASYNC_FD);
        }

        private void requireDescriptor(String field, long offset) {
            int descriptor = CMemory.getInt(context + offset);
            require(
                    descriptor >= 0 && Files.exists(Path.of("/proc/self/fd/" + descriptor)),
                    "ibv_context." + field,
                    descriptor,
                    "an open descriptor");
        }

        private long device() {
            return CMemory.getLong(context + VerbsAbi.CONTEXT_DEVICE);
        }

        private void requireDevice() {
            String told = CMemory.getString(library.deviceName(device()), VerbsAbi.DEVICE_NAME_BYTES);
            if (name.isEmpty() || !told.equals(name)) {
                throw new AbiMismatchException(
                        "ibv_device.name is '" + name + "', expected '" + told + "' as ibv_get_device_name says");
            }
        }

        private record Made(int maxInline, Set<Feature> features) {}

        private Made makeObjects(long attributes, boolean heedsBase, WireProtocol speaks) {
            long domain = NativeErrors.require("ibv_alloc_pd", library.allocateDomain(context), "a probe of " + name);
            try {
                require(
                        CMemory.getLong(domain + VerbsAbi.DOMAIN_CONTEXT) == context,
                        "ibv_pd.context",
                        CMemory.getLong(domain + VerbsAbi.DOMAIN_CONTEXT),
                        "the context");
                EnumSet<Feature> features = EnumSet.noneOf(Feature.class);
                OptionalObjects optional = new OptionalObjects(library, operations, attributes, domain, arena);
                add(features, Feature.ZERO_BASED, makeRegions(domain, optional, features) && heedsBase);
                add(features, Feature.MEMORY_WINDOWS, optional.hasWindows());
                return new Made(makeQueues(domain, optional, speaks, features), features);
            } finally {
                library.deallocateDomain(domain);
            }
        }

        private static void add(Set<Feature> features, Feature feature, boolean present) {
            if (present) {
                features.add(feature);
            }
        }

        /** Registers a page at its own address and at 0; true if the latter works. */
        private boolean makeRegions(long domain, OptionalObjects optional, Set<Feature> features) {
            long page = arena.allocate(PAGE, PAGE).address();
            int access = RegionRights.LOCAL_WRITE | RegionRights.REMOTE_READ;
            long region = NativeErrors.require(
                    "ibv_reg_mr",
                    library.registerRegion(domain, page, PAGE, page, access),
                    "a page; locked-memory limit " + LockedMemory.ofThisProcess() + ", see ulimit -l");
            try {
                require(
                        CMemory.getLong(region + VerbsAbi.REGION_DOMAIN) == domain
                                && CMemory.getLong(region + VerbsAbi.REGION_ADDRESS) == page
                                && CMemory.getLong(region + VerbsAbi.REGION_LENGTH) == PAGE,
                        "ibv_mr.length",
                        CMemory.getLong(region + VerbsAbi.REGION_LENGTH),
                        "the domain, address and length that were registered");
                add(features, Feature.REREGISTRATION, optional.reregisters(region));
            } finally {
                library.deregisterRegion(region);
            }
            long fromZero = library.registerRegion(domain, page, PAGE, 0, access);
            if (VerbsLibrary.isError(fromZero)) {
                return false;
            }
            library.deregisterRegion(fromZero);
            return true;
        }

        private int makeQueues(long domain, OptionalObjects optional, WireProtocol speaks, Set<Feature> features) {
            long queue = NativeErrors.require(
                    "ibv_create_cq", library.createCompletionQueue(context, 1, COOKIE, 0, 0), "a probe of " + name);
            try {
                require(
                        CMemory.getLong(queue + VerbsAbi.COMPLETION_QUEUE_CONTEXT) == context
                                && CMemory.getLong(queue + VerbsAbi.COMPLETION_QUEUE_COOKIE) == COOKIE
                                && CMemory.getInt(queue + VerbsAbi.COMPLETION_QUEUE_ENTRIES) >= 1,
                        "ibv_cq.cqe",
                        CMemory.getInt(queue + VerbsAbi.COMPLETION_QUEUE_ENTRIES),
                        "the context and cookie it was created with, and 1 or more entries");
                long completion = arena.allocate(WorkRequestAbi.COMPLETION).address();
                int polled = operations.poll(queue, 1, completion);
                require(polled == 0, "ibv_poll_cq of a new queue", polled, "0");
                if (!makesQueuePair(QueuePairType.RELIABLE_CONNECTION, domain, queue, 0, 0)) {
                    throw NativeErrors.failed("ibv_create_qp", 0, name + " makes no reliably connected queue pair");
                }
                add(features, Feature.QUEUE_RESIZE, optional.resizes(queue));
                add(
                        features,
                        Feature.SHARED_RECEIVE_QUEUES,
                        optional.hasSharedReceiveQueues(
                                shared -> makesQueuePair(QueuePairType.RELIABLE_CONNECTION, domain, queue, shared, 0)));
                // InfiniBand would need the local identifiers that its subnet manager gives.
                if (speaks == WireProtocol.ROCE) {
                    for (QueuePairType type : QueuePairType.values()) {
                        add(features, type.feature(), makesQueuePair(type, domain, queue, 0, 0));
                    }
                }
                return largestInline(domain, queue);
            } finally {
                library.destroyCompletionQueue(queue);
            }
        }

        /** Found by trial: no verb reports it. */
        private int largestInline(long domain, long queue) {
            int works = 0;
            int fails = MAX_INLINE + 1;
            while (fails - works > 1) {
                int middle = (works + fails) >>> 1;
                if (makesQueuePair(QueuePairType.RELIABLE_CONNECTION, domain, queue, 0, middle)) {
                    works = middle;
                } else {
                    fails = middle;
                }
            }
            return works;
        }

        private boolean makesQueuePair(QueuePairType type, long domain, long queue, long shared, int inline) {
            long init = arena.allocate(VerbsAbi.QUEUE_PAIR_INIT).address();
            CMemory.putLong(init + VerbsAbi.INIT_SEND_QUEUE, queue);
            CMemory.putLong(init + VerbsAbi.INIT_RECEIVE_QUEUE, queue);
            CMemory.putLong(init + VerbsAbi.INIT_SHARED_QUEUE, shared);
            CMemory.putInt(init + VerbsAbi.INIT_MAX_SEND, 1);
            CMemory.putInt(init + VerbsAbi.INIT_MAX_RECEIVE, 1);
            CMemory.putInt(init + VerbsAbi.INIT_MAX_SEND_SGE, 1);
            CMemory.putInt(init + VerbsAbi.INIT_MAX_RECEIVE_SGE, 1);
            CMemory.putInt(init + VerbsAbi.INIT_MAX_INLINE, inline);
            CMemory.putInt(init + VerbsAbi.INIT_TYPE, QueuePairCodes.type(type));
            long queuePair = library.createQueuePair(domain, init);
            if (VerbsLibrary.isError(queuePair)) {
                return false;
            }
            try {
                require(
                        CMemory.getLong(queuePair + VerbsAbi.QUEUE_PAIR_DOMAIN) == domain
                                && CMemory.getLong(queuePair + VerbsAbi.QUEUE_PAIR_SEND_QUEUE) == queue
                                && CMemory.getLong(queuePair + VerbsAbi.QUEUE_PAIR_RECEIVE_QUEUE) == queue
                                && CMemory.getLong(queuePair + VerbsAbi.QUEUE_PAIR_SHARED_QUEUE) == shared
                                && CMemory.getInt(queuePair + VerbsAbi.QUEUE_PAIR_TYPE) == QueuePairCodes.type(type),
                        "ibv_qp.qp_type",
                        CMemory.getInt(queuePair + VerbsAbi.QUEUE_PAIR_TYPE),
                        "the domain, queues and type it was created with");
                return CMemory.getInt(init + VerbsAbi.INIT_MAX_INLINE) >= inline;
            } finally {
                library.destroyQueuePair(queuePair);
            }
        }

        private static void succeed(String function, int errno) {
            if (errno != 0) {
                throw NativeErrors.failed(function, errno, "the device does not answer");
            }
        }

        private static void require(boolean holds, String field, long found, String expected) {
            if (!holds) {
                throw new AbiMismatchException(
                        field + " is " + found + ", expected " + expected + ": this libibverbs has an unknown layout");
            }
        }

        private static int limit(long field, int most) {
            int value = CMemory.getInt(field);
            return value < 0 ? most : Math.clamp(value, 1, most);
        }

        private static long longLimit(long value) {
            return value < 0 ? Long.MAX_VALUE : value;
        }
    }
}
