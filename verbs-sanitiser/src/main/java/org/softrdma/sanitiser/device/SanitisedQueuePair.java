package org.softrdma.sanitiser.device;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import org.softrdma.sanitiser.watch.OutstandingRequest;
import org.softrdma.sanitiser.watch.QueuePairWatch;
import org.softrdma.sanitiser.watch.RegionRecord;
import org.softrdma.sanitiser.watch.WatchedQueuePairs;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.AddressHandle;
import org.softrdma.verbs.ConnectionCapabilities;
import org.softrdma.verbs.EndCause;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.MemoryWindow;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAddress;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.QueuePairType;
import org.softrdma.verbs.ReceiveAttributes;
import org.softrdma.verbs.ReceiveWorkRequest;
import org.softrdma.verbs.ScatterGatherList;
import org.softrdma.verbs.SendAttributes;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendOpcode;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.SendWorkRequestList;
import org.softrdma.verbs.UnconnectedQueuePair;

/** A queue pair. Any thread, as the provider's; a lock makes posts and the telling of completions take turns. */
final class SanitisedQueuePair implements UnconnectedQueuePair {
    private final QueuePair queuePair;
    private final ProtectionDomain domain;
    private final QueuePairWatch watch;
    private final WatchedQueuePairs siblings;
    private final Wrappers wrappers;
    private final Lifetime lifetime;

    SanitisedQueuePair(
            QueuePair queuePair,
            ProtectionDomain domain,
            QueuePairWatch watch,
            WatchedQueuePairs siblings,
            Wrappers wrappers,
            Lifetime lifetime) {
        this.queuePair = queuePair;
        this.domain = domain;
        this.watch = watch;
        this.siblings = siblings;
        this.wrappers = wrappers;
        this.lifetime = lifetime;
        wrappers.add(queuePair, this);
    }

    QueuePairWatch watch() {
        return watch;
    }

    // ---- posts with one local buffer

    @Override
    public PostStatus postRead(
            long wrId, MemoryRegion local, long offset, long length, long remoteAddress, int rkey, int flags) {
        return watch.send(
                request(SendOpcode.READ, wrId, local, offset, length, flags).readsFrom(remoteAddress, rkey),
                () -> queuePair.postRead(
                        wrId, SanitisedRegion.bare(local), offset, length, remoteAddress, rkey, flags));
    }

    @Override
    public PostStatus postWrite(
            long wrId, MemoryRegion local, long offset, long length, long remoteAddress, int rkey, int flags) {
        return watch.send(
                request(SendOpcode.WRITE, wrId, local, offset, length, flags),
                () -> queuePair.postWrite(
                        wrId, SanitisedRegion.bare(local), offset, length, remoteAddress, rkey, flags));
    }

    @Override
    public PostStatus postSend(long wrId, MemoryRegion local, long offset, long length, int flags) {
        return watch.send(
                request(SendOpcode.SEND, wrId, local, offset, length, flags),
                () -> queuePair.postSend(wrId, SanitisedRegion.bare(local), offset, length, flags));
    }

    @Override
    public PostStatus postCompareAndSwap(
            long wrId,
            MemoryRegion result,
            long offset,
            long remoteAddress,
            int rkey,
            long expected,
            long replacement,
            int flags) {
        return watch.send(
                request(SendOpcode.COMPARE_AND_SWAP, wrId, result, offset, Long.BYTES, flags),
                () -> queuePair.postCompareAndSwap(
                        wrId, SanitisedRegion.bare(result), offset, remoteAddress, rkey, expected, replacement, flags));
    }

    @Override
    public PostStatus postFetchAndAdd(
            long wrId, MemoryRegion result, long offset, long remoteAddress, int rkey, long delta, int flags) {
        return watch.send(
                request(SendOpcode.FETCH_AND_ADD, wrId, result, offset, Long.BYTES, flags),
                () -> queuePair.postFetchAndAdd(
                        wrId, SanitisedRegion.bare(result), offset, remoteAddress, rkey, delta, flags));
    }

    @Override
    public PostStatus postWriteImmediate(
            long wrId,
            MemoryRegion local,
            long offset,
            long length,
            long remoteAddress,
            int rkey,
            int immediate,
            int flags) {
        return watch.send(
                request(SendOpcode.WRITE_IMMEDIATE, wrId, local, offset, length, flags),
                () -> queuePair.postWriteImmediate(
                        wrId, SanitisedRegion.bare(local), offset, length, remoteAddress, rkey, immediate, flags));
    }

    @Override
    public PostStatus postSendImmediate(
            long wrId, MemoryRegion local, long offset, long length, int immediate, int flags) {
        return watch.send(
                request(SendOpcode.SEND_IMMEDIATE, wrId, local, offset, length, flags),
                () -> queuePair.postSendImmediate(wrId, SanitisedRegion.bare(local), offset, length, immediate, flags));
    }

    @Override
    public PostStatus postSendTo(
            long wrId,
            MemoryRegion local,
            long offset,
            long length,
            AddressHandle host,
            int number,
            int queueKey,
            int flags) {
        OutstandingRequest request = request(SendOpcode.SEND, wrId, local, offset, length, flags);
        sentTo(request, host, number, queueKey, length);
        return watch.send(
                request,
                () -> queuePair.postSendTo(
                        wrId,
                        SanitisedRegion.bare(local),
                        offset,
                        length,
                        SanitisedAddressHandle.bare(host),
                        number,
                        queueKey,
                        flags));
    }

    @Override
    public PostStatus postSendImmediateTo(
            long wrId,
            MemoryRegion local,
            long offset,
            long length,
            AddressHandle host,
            int number,
            int queueKey,
            int immediate,
            int flags) {
        OutstandingRequest request = request(SendOpcode.SEND_IMMEDIATE, wrId, local, offset, length, flags);
        sentTo(request, host, number, queueKey, length);
        return watch.send(
                request,
                () -> queuePair.postSendImmediateTo(
                        wrId,
                        SanitisedRegion.bare(local),
                        offset,
                        length,
                        SanitisedAddressHandle.bare(host),
                        number,
                        queueKey,
                        immediate,
                        flags));
    }

    private static void sentTo(OutstandingRequest request, AddressHandle host, int number, int queueKey, long length) {
        request.sentTo(new OutstandingRequest.Datagram(SanitisedAddressHandle.bare(host), number, queueKey, length));
    }

    @Override
    public PostStatus postSendInvalidate(
            long wrId, MemoryRegion local, long offset, long length, int peersKey, int flags) {
        return watch.send(
                request(SendOpcode.SEND_INVALIDATE, wrId, local, offset, length, flags),
                () -> queuePair.postSendInvalidate(wrId, SanitisedRegion.bare(local), offset, length, peersKey, flags));
    }

    @Override
    public PostStatus postInvalidate(long wrId, int key, int flags) {
        return watch.send(
                watch.request(SendOpcode.INVALIDATE, wrId, flags), () -> queuePair.postInvalidate(wrId, key, flags));
    }

    @Override
    public PostStatus postBindWindow(
            long wrId,
            MemoryWindow window,
            MemoryRegion region,
            long offset,
            long length,
            Set<AccessFlag> access,
            int flags) {
        OutstandingRequest request = watch.request(SendOpcode.BIND_WINDOW, wrId, flags);
        RegionRecord record = SanitisedRegion.record(region);
        if (record != null) {
            watch.checkInline(request, record);
        }
        return watch.send(
                request,
                () -> queuePair.postBindWindow(
                        wrId,
                        SanitisedWindow.bare(window),
                        SanitisedRegion.bare(region),
                        offset,
                        length,
                        access,
                        flags));
    }

    @Override
    public PostStatus postReceive(long wrId, MemoryRegion local, long offset, long length) {
        OutstandingRequest request = watch.receive(wrId).add(SanitisedRegion.record(local), offset, length);
        return watch.receive(request, () -> queuePair.postReceive(wrId, SanitisedRegion.bare(local), offset, length));
    }

    /** Inline data has left its buffer when the post returns. */
    private OutstandingRequest request(
            SendOpcode opcode, long wrId, MemoryRegion local, long offset, long length, int flags) {
        OutstandingRequest request = watch.request(opcode, wrId, flags);
        RegionRecord record = SanitisedRegion.record(local);
        if ((flags & SendFlags.INLINE) == 0) {
            request.add(record, offset, length);
        } else if (record != null && length > 0) {
            watch.checkInline(request, record);
        }
        return request;
    }

    // ---- posts with any number of local buffers

    @Override
    public PostStatus post(SendWorkRequest request) {
        return watch.send(request(request), () -> queuePair.post(bare(request)));
    }

    @Override
    public PostStatus post(SendWorkRequestList requests) {
        List<OutstandingRequest> posted = new ArrayList<>(requests.size());
        for (int i = 0; i < requests.size(); i++) {
            posted.add(request(requests.get(i)));
        }
        return watch.send(posted, () -> postBare(requests), status -> requests.accepted());
    }

    /** A list with a bind or a datagram is copied: the provider knows its own windows and address handles only. */
    private PostStatus postBare(SendWorkRequestList requests) {
        if (!anyNamesAnObject(requests)) {
            return queuePair.post(requests);
        }
        SendWorkRequestList copies = new SendWorkRequestList(requests.size());
        for (int i = 0; i < requests.size(); i++) {
            copy(requests.get(i), copies.next());
        }
        try {
            return queuePair.post(copies);
        } finally {
            requests.accepted(copies.accepted());
        }
    }

    private static boolean anyNamesAnObject(SendWorkRequestList requests) {
        for (int i = 0; i < requests.size(); i++) {
            if (namesAnObject(requests.get(i))) {
                return true;
            }
        }
        return false;
    }

    private static boolean namesAnObject(SendWorkRequest request) {
        return request.opcode() == SendOpcode.BIND_WINDOW || request.addressHandle() != null;
    }

    private static SendWorkRequest bare(SendWorkRequest request) {
        return namesAnObject(request) ? copy(request, new SendWorkRequest()) : request;
    }

    private static SendWorkRequest copy(SendWorkRequest from, SendWorkRequest to) {
        long wrId = from.wrId();
        int flags = from.flags();
        long remote = from.remoteAddress();
        int rkey = from.rkey();
        switch (from.opcode()) {
            case SEND -> to.send(wrId, flags);
            case WRITE -> to.write(wrId, remote, rkey, flags);
            case READ -> to.read(wrId, remote, rkey, flags);
            case SEND_IMMEDIATE -> to.sendImmediate(wrId, from.immediate(), flags);
            case SEND_INVALIDATE -> to.sendInvalidate(wrId, rkey, flags);
            case WRITE_IMMEDIATE -> to.writeImmediate(wrId, remote, rkey, from.immediate(), flags);
            case COMPARE_AND_SWAP -> to.compareAndSwap(wrId, remote, rkey, from.compareAdd(), from.swap(), flags);
            case FETCH_AND_ADD -> to.fetchAndAdd(wrId, remote, rkey, from.compareAdd(), flags);
            case INVALIDATE -> to.invalidate(wrId, rkey, flags);
            case BIND_WINDOW -> {
                MemoryWindow window = Objects.requireNonNull(from.window());
                to.bindWindow(wrId, SanitisedWindow.bare(window), from.windowAccess(), flags);
            }
        }
        AddressHandle host = from.addressHandle();
        if (host != null) {
            to.to(SanitisedAddressHandle.bare(host), from.remoteNumber(), from.queueKey());
        }
        ScatterGatherList local = from.local();
        for (int i = 0; i < local.size(); i++) {
            to.add(local.address(i), local.length(i), local.lkey(i));
        }
        return to;
    }

    @Override
    public PostStatus post(ReceiveWorkRequest request) {
        OutstandingRequest posted = watch.receive(request.wrId());
        addEntries(posted, request.local());
        return watch.receive(posted, () -> queuePair.post(request));
    }

    private OutstandingRequest request(SendWorkRequest request) {
        OutstandingRequest posted = watch.request(request.opcode(), request.wrId(), request.flags());
        if (request.opcode() == SendOpcode.BIND_WINDOW) {
            for (int i = 0; i < request.local().size(); i++) {
                watch.checkBound(posted, request.local().lkey(i));
            }
        } else if ((request.flags() & SendFlags.INLINE) == 0) {
            addEntries(posted, request.local());
        }
        if (request.opcode() == SendOpcode.READ) {
            posted.readsFrom(request.remoteAddress(), request.rkey());
        }
        AddressHandle host = request.addressHandle();
        if (host != null) {
            sentTo(
                    posted,
                    host,
                    request.remoteNumber(),
                    request.queueKey(),
                    request.local().totalLength());
        }
        return posted;
    }

    private void addEntries(OutstandingRequest request, ScatterGatherList local) {
        for (int i = 0; i < local.size(); i++) {
            watch.add(request, local.address(i), local.length(i), local.lkey(i));
        }
    }

    // ---- without a connection manager

    @Override
    public QueuePairAddress address() {
        return unconnected().address();
    }

    @Override
    public void connect(QueuePairAddress peer, int outboundReads, int inboundReads) {
        unconnected().connect(peer, outboundReads, inboundReads);
    }

    @Override
    public void readyToReceive(ReceiveAttributes attributes) {
        unconnected().readyToReceive(attributes);
    }

    @Override
    public void readyToSend(SendAttributes attributes) {
        unconnected().readyToSend(attributes);
    }

    @Override
    public void permit(Set<AccessFlag> rights) {
        unconnected().permit(rights);
    }

    @Override
    public void drain() {
        unconnected().drain();
    }

    @Override
    public boolean isDraining() {
        return unconnected().isDraining();
    }

    @Override
    public void resume() {
        unconnected().resume();
    }

    /** What was posted is forgotten here, too: no completion tells of it. */
    @Override
    public void reset() {
        unconnected().reset();
        watch.reset();
    }

    @Override
    public void initialise(Set<AccessFlag> rights) {
        unconnected().initialise(rights);
    }

    /** Only what a domain has made is handed out as one that the application connects. */
    private UnconnectedQueuePair unconnected() {
        return (UnconnectedQueuePair) queuePair;
    }

    // ---- the rest

    @Override
    public QueuePairType type() {
        return queuePair.type();
    }

    @Override
    public int number() {
        return queuePair.number();
    }

    @Override
    public QueuePairState state() {
        return queuePair.state();
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public QueuePairLimits limits() {
        return queuePair.limits();
    }

    @Override
    public ConnectionCapabilities connectionCapabilities() {
        return queuePair.connectionCapabilities();
    }

    @Override
    public void disconnect() {
        queuePair.disconnect();
    }

    @Override
    public CompletionStage<String> disconnected() {
        return queuePair.disconnected();
    }

    @Override
    public EndCause endCause() {
        return queuePair.endCause();
    }

    @Override
    public void close() {
        siblings.closing(queuePair.number(), watch);
        queuePair.close();
        wrappers.remove(queuePair);
        if (lifetime.end()) {
            watch.closed();
        }
    }

    @Override
    public String toString() {
        return queuePair.toString();
    }
}
