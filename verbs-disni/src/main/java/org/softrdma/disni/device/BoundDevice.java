package org.softrdma.disni.device;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;
import org.softrdma.disni.library.DisniLibrary;
import org.softrdma.disni.library.InstalledDisni;
import org.softrdma.ibverbs.RdmaSubsystem;
import org.softrdma.ibverbs.WireProtocol;
import org.softrdma.ibverbs.device.IbvDevice;
import org.softrdma.verbs.Capabilities;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/**
 * A device that was found by binding an id to each address of this machine: DiSNI has no list of devices, and a context
 * comes only from a bound id and lives as long as it. The kernel tells name and transport, by the context's descriptor.
 * Limits are found by trial, because DiSNI has no query either.
 *
 * @param channel open
 * @param id bound to the device, which keeps the context
 * @param context of the device
 * @param address of the device
 * @param name of the device, or its address where the kernel does not tell
 * @param transport if the kernel tells
 * @param siwGuard on SoftiWARP, an unused completion queue that is closed with the device; see
 *     {@link IbvDevice#SIW_GUARD_ENTRIES}
 * @param capabilities limits and features
 */
public record BoundDevice(
        DisniLibrary.EventChannel channel,
        DisniLibrary.Id id,
        DisniLibrary.Context context,
        InetAddress address,
        String name,
        Optional<WireProtocol> transport,
        Optional<DisniLibrary.Queue> siwGuard,
        Capabilities capabilities) {
    /** What fits DiSNI's {@code int}, for regions and messages. */
    private static final int MOST_BYTES = Integer.MAX_VALUE;
    /**
     * The smallest of the kernel's drivers, SoftRoCE's {@code RXE_PORT_MAX_MSG_SZ}; {@code ibv_query_port} is not
     * available.
     */
    private static final int MOST_MESSAGE = 8 << 20;
    /** DiSNI connects with the device's maximum and does not say what it is; this is what common devices have. */
    private static final int READS = 16;
    /** Enough not to refuse a region that the device would accept; {@code ibv_query_device} is not available. */
    private static final int REGIONS = 1 << 16;

    private static final int MOST_WORK = 1 << 15;
    private static final int MOST_COMPLETIONS = 1 << 17;
    private static final int MOST_INLINE = 4096;

    /**
     * Finds a device.
     *
     * @param library DiSNI
     * @param subsystem the kernel
     * @param device name wanted; empty for the first one
     * @param addresses to try, in this order
     * @throws IOException if the event channel cannot be opened: there is no device, or no permission to use it
     * @throws VerbsException {@code NO_DEVICE} if no address belongs to a device, or to the one wanted; or the failure
     *     of a trial
     */
    public static BoundDevice find(
            DisniLibrary library, RdmaSubsystem subsystem, Optional<String> device, List<InetAddress> addresses)
            throws IOException {
        DisniLibrary.EventChannel channel = library.createEventChannel();
        try {
            return find(channel, subsystem, device, addresses);
        } catch (IOException | RuntimeException e) {
            channel.destroy();
            throw e;
        }
    }

    private static BoundDevice find(
            DisniLibrary.EventChannel channel,
            RdmaSubsystem subsystem,
            Optional<String> device,
            List<InetAddress> addresses)
            throws IOException {
        List<String> refusals = new ArrayList<>();
        for (InetAddress address : addresses) {
            DisniLibrary.Id id = channel.createId();
            try {
                BoundDevice found = probe(channel, id, subsystem, device, address, refusals);
                if (found != null) {
                    return found;
                }
            } catch (IOException | RuntimeException e) {
                id.destroy();
                throw e;
            }
            id.destroy();
        }
        throw new VerbsException(
                VerbsErrorCode.NO_DEVICE,
                "no IPv4 address of "
                        + device.map(name -> "the RDMA device " + name).orElse("an RDMA device") + ": "
                        + (refusals.isEmpty() ? "this machine has none" : String.join("; ", refusals)));
    }

    private static @Nullable BoundDevice probe(
            DisniLibrary.EventChannel channel,
            DisniLibrary.Id id,
            RdmaSubsystem subsystem,
            Optional<String> device,
            InetAddress address,
            List<String> refusals)
            throws IOException {
        String text = address.getHostAddress();
        try {
            id.bind(new InetSocketAddress(address, 0));
        } catch (IOException e) {
            refusals.add(text + ": " + DisniErrors.text(e));
            return null;
        }
        DisniLibrary.Context context = id.context();
        if (context == null) {
            refusals.add(text + " belongs to no device");
            return null;
        }
        Optional<String> name = subsystem.deviceOfDescriptor(context.commandDescriptor());
        if (device.isPresent() && !device.equals(name)) {
            refusals.add(text + " belongs to " + name.orElse("a device whose name the kernel does not tell"));
            return null;
        }
        Optional<WireProtocol> transport = name.flatMap(subsystem::transport);
        Optional<DisniLibrary.Queue> guard = name.filter(subsystem::isSoftIwarp).isPresent()
                ? Optional.of(context.createQueue(IbvDevice.SIW_GUARD_ENTRIES, 0))
                : Optional.empty();
        try {
            Capabilities limits = new Trial(id, context).limits(transport);
            return new BoundDevice(channel, id, context, address, name.orElse(text), transport, guard, limits);
        } catch (IOException | RuntimeException e) {
            if (guard.isPresent()) {
                guard.get().destroy();
            }
            throw e;
        }
    }

    /** Creates and destroys objects to find out how large they can be. */
    private record Trial(DisniLibrary.Id id, DisniLibrary.Context context) {
        Capabilities limits(Optional<WireProtocol> transport) throws IOException {
            int completions = largest("completion queue entries", MOST_COMPLETIONS, this::makesQueue);
            DisniLibrary.Domain domain = context.allocateDomain();
            try {
                DisniLibrary.Queue queue = context.createQueue(1, 0);
                try {
                    int work = largest("work requests", MOST_WORK, size -> makesPair(domain, queue, size, 0));
                    return capabilities(transport, completions, work, largestInline(domain, queue));
                } finally {
                    queue.destroy();
                }
            } finally {
                domain.deallocate();
            }
        }

        private Capabilities capabilities(Optional<WireProtocol> transport, int completions, int work, int inline)
                throws IOException {
            boolean iwarp = transport.equals(Optional.of(WireProtocol.IWARP));
            return Capabilities.builder(
                            "disni", transport.map(WireProtocol::toString).orElse("unknown"))
                    .maxSendWorkRequests(work)
                    .maxReceiveWorkRequests(work)
                    .maxScatterGather(InstalledDisni.ENTRIES)
                    .maxScatterGatherRead(1)
                    .maxInline(inline)
                    .maxCompletionQueueEntries(completions)
                    .maxMemoryRegions(REGIONS)
                    .maxRegionLength(MOST_BYTES)
                    .maxMessageLength(iwarp ? MOST_BYTES : MOST_MESSAGE)
                    .maxOutboundReads(READS)
                    .maxInboundReads(READS)
                    .maxPrivateData(0)
                    .completionVectors(Math.max(1, context.completionVectors()))
                    .features(transport.map(WireProtocol::connectionFeatures).orElse(Set.of()))
                    .build();
        }

        private static int largest(String what, int most, IntPredicate works) {
            for (int size = most; size > 1; size /= 2) {
                if (works.test(size - 1)) {
                    return size - 1;
                }
            }
            throw new VerbsException(
                    VerbsErrorCode.NO_RESOURCES,
                    "the device refuses " + what + ", however few; DiSNI asks for " + InstalledDisni.ENTRIES
                            + " local entries in every request, see max_sge in ibv_devinfo -v");
        }

        private boolean makesQueue(int entries) {
            try {
                context.createQueue(entries, 0).destroy();
                return true;
            } catch (IOException e) {
                return false;
            }
        }

        private boolean makesPair(DisniLibrary.Domain domain, DisniLibrary.Queue queue, int work, int inline) {
            try {
                id.createQueuePair(domain, queue, queue, work, work, inline);
                id.destroyQueuePair();
                return true;
            } catch (IOException e) {
                return false;
            }
        }

        private int largestInline(DisniLibrary.Domain domain, DisniLibrary.Queue queue) {
            int works = 0;
            int fails = MOST_INLINE + 1;
            while (fails - works > 1) {
                int middle = (works + fails) >>> 1;
                if (makesPair(domain, queue, 1, middle)) {
                    works = middle;
                } else {
                    fails = middle;
                }
            }
            return works;
        }
    }
}
