package org.softrdma.sanitiser.watch;

import java.net.InetAddress;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.AddressHandle;
import org.softrdma.verbs.QueuePairAddress;

/**
 * The queue pairs of this process that take datagrams, by what datagrams name, and the datagrams that have not
 * completed, by their address handles. Thread-safe.
 */
public final class DatagramTable {
    private final Map<Place, QueuePairRecord> receivers = new ConcurrentHashMap<>();
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<AddressHandle, Set<OutstandingRequest>> outstanding = new HashMap<>();

    private record Place(InetAddress host, int number) {}

    DatagramTable() {}

    // ---- receivers

    void opened(QueuePairAddress address, QueuePairRecord queuePair) {
        receivers.put(new Place(address.host().getAddress(), address.number()), queuePair);
    }

    void closed(QueuePairRecord queuePair) {
        receivers.values().removeIf(each -> each.equals(queuePair));
    }

    /** Where a datagram goes; null if that is not of this process. */
    @Nullable
    QueuePairRecord receiver(OutstandingRequest.Datagram datagram) {
        return receivers.get(new Place(datagram.to().host().getAddress(), datagram.number()));
    }

    // ---- datagrams

    /** A request is about to be posted; a datagram gives its handle back when it has completed. */
    void claim(OutstandingRequest request) {
        OutstandingRequest.Datagram datagram = request.datagram();
        if (datagram == null) {
            return;
        }
        lock.lock();
        try {
            outstanding
                    .computeIfAbsent(datagram.to(), handle -> new LinkedHashSet<>())
                    .add(request);
        } finally {
            lock.unlock();
        }
        request.claims().add(() -> release(datagram.to(), request));
    }

    private void release(AddressHandle handle, OutstandingRequest request) {
        lock.lock();
        try {
            outstanding.computeIfPresent(handle, (same, requests) -> {
                requests.remove(request);
                return requests.isEmpty() ? null : requests;
            });
        } finally {
            lock.unlock();
        }
    }

    /** The datagrams that name a handle and have not completed, in posting order. */
    List<OutstandingRequest> outstandingOn(AddressHandle handle) {
        lock.lock();
        try {
            return List.copyOf(outstanding.getOrDefault(handle, Set.of()));
        } finally {
            lock.unlock();
        }
    }
}
