package org.softrdma.rdmacore.device;

import java.lang.foreign.Arena;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.softrdma.ibverbs.Errno;
import org.softrdma.ibverbs.device.IbvCompletionQueue;
import org.softrdma.ibverbs.device.IbvDevice;
import org.softrdma.ibverbs.device.IbvQueuePair;
import org.softrdma.ibverbs.device.IbvSharedReceiveQueue;
import org.softrdma.rdmacore.abi.CMemory;
import org.softrdma.rdmacore.abi.VerbsAbi;
import org.softrdma.rdmacore.abi.VerbsLibrary;
import org.softrdma.verbs.AsyncEvent.DeviceEvent;
import org.softrdma.verbs.AsyncEvent.QueuePairEvent;
import org.softrdma.verbs.AsyncEvent.SharedReceiveQueueEvent;

/**
 * What all devices of this process on one context share, because librdmacm has one table of contexts per process.
 *
 * <p>Asynchronous events (C: {@code ibv_get_async_event}), each of which goes to only one reader. An event is read,
 * acknowledged at once, because {@code ibv_destroy_qp}, {@code ibv_destroy_cq} and {@code ibv_destroy_srq} wait for
 * that, and passed to the queue pairs, queue or devices that it concerns, which tell the application. Any of the
 * devices' threads reads, under one lock.
 *
 * <p>On siw, an unused completion queue ({@link IbvDevice#SIW_GUARD_ENTRIES}).
 */
final class SharedContext {
    private static final System.Logger LOG = System.getLogger(SharedContext.class.getName());

    private static final ReentrantLock SHARED_LOCK = new ReentrantLock();
    /** By context. Under {@link #SHARED_LOCK}. */
    private static final Map<Long, SharedContext> SHARED = new HashMap<>();

    private final VerbsLibrary library;
    private final long context;
    private final int descriptor;
    /** The completion queue on siw, or 0. */
    private final long guard;

    private final ReentrantLock readLock = new ReentrantLock();
    private final Set<DeviceFaults> devices = ConcurrentHashMap.newKeySet();
    /** By native pointer; none of these is destroyed yet. */
    private final Map<Long, IbvQueuePair> queuePairs = new ConcurrentHashMap<>();

    private final Map<Long, IbvCompletionQueue> completionQueues = new ConcurrentHashMap<>();
    private final Map<Long, IbvSharedReceiveQueue> sharedReceiveQueues = new ConcurrentHashMap<>();

    private SharedContext(VerbsLibrary library, long context, boolean softIwarp) {
        this.library = library;
        this.context = context;
        descriptor = CMemory.getInt(context + VerbsAbi.CONTEXT_ASYNC_FD);
        library.setNonBlocking(descriptor);
        guard = softIwarp
                ? NativeErrors.require(
                        "ibv_create_cq",
                        library.createCompletionQueue(context, IbvDevice.SIW_GUARD_ENTRIES, 0, 0, 0),
                        "a queue of " + IbvDevice.SIW_GUARD_ENTRIES + " entries")
                : 0;
    }

    /** Joins a device to the shared part of its context, until it leaves. */
    static SharedContext join(VerbsLibrary library, long context, boolean softIwarp, DeviceFaults device) {
        SHARED_LOCK.lock();
        try {
            SharedContext joined =
                    SHARED.computeIfAbsent(context, unshared -> new SharedContext(library, unshared, softIwarp));
            joined.devices.add(device);
            return joined;
        } finally {
            SHARED_LOCK.unlock();
        }
    }

    /** A device closes. */
    void leave(DeviceFaults device) {
        SHARED_LOCK.lock();
        try {
            devices.remove(device);
            if (devices.isEmpty()) {
                SHARED.remove(context);
                if (guard != 0) {
                    library.destroyCompletionQueue(guard);
                }
            }
        } finally {
            SHARED_LOCK.unlock();
        }
    }

    /** Readable when there is an event. */
    int descriptor() {
        return descriptor;
    }

    void opened(long pointer, IbvQueuePair queuePair) {
        queuePairs.put(pointer, queuePair);
    }

    void opened(long pointer, IbvCompletionQueue queue) {
        completionQueues.put(pointer, queue);
    }

    void opened(long pointer, IbvSharedReceiveQueue queue) {
        sharedReceiveQueues.put(pointer, queue);
    }

    /** The completion queue of a native one; null if it is closed. */
    @Nullable
    IbvCompletionQueue completionQueue(long pointer) {
        return completionQueues.get(pointer);
    }

    /** Must be called before a queue pair is destroyed: its address may soon belong to another. */
    void closingQueuePair(long pointer) {
        queuePairs.remove(pointer);
    }

    /** Must be called before a completion queue is destroyed. */
    void closingCompletionQueue(long pointer) {
        completionQueues.remove(pointer);
    }

    /** Must be called before a shared receive queue is destroyed. */
    void closingSharedReceiveQueue(long pointer) {
        sharedReceiveQueues.remove(pointer);
    }

    /**
     * Reads and passes on all available events. On the thread of any of the devices.
     *
     * @return false if the descriptor has failed, for example because the device was removed: it is always readable,
     *     and delivers no more events
     */
    boolean take() {
        try (Arena arena = Arena.ofConfined()) {
            long event = arena.allocate(VerbsAbi.ASYNC_EVENT).address();
            int errno = takeOne(event);
            while (errno == 0) {
                errno = takeOne(event);
            }
            return errno == Errno.EAGAIN || errno == Errno.EINTR;
        }
    }

    /**
     * Passes on one event under the lock, and so in order; no receiver waits. Returns 0, or an errno if there was no
     * event.
     */
    private int takeOne(long event) {
        readLock.lock();
        try {
            int errno = Math.abs(library.getAsyncEvent(context, event));
            if (errno != 0) {
                return errno;
            }
            // Before the acknowledgement the object it names cannot be destroyed, so its address cannot belong to
            // another one.
            Runnable told = meaning(
                    CMemory.getInt(event + VerbsAbi.ASYNC_EVENT_TYPE),
                    CMemory.getLong(event + VerbsAbi.ASYNC_EVENT_ELEMENT));
            library.acknowledgeAsyncEvent(event);
            told.run();
            return 0;
        } finally {
            readLock.unlock();
        }
    }

    private Runnable meaning(int type, long element) {
        return switch (type) {
            case VerbsAbi.EVENT_QP_FATAL -> queuePairEnded(element, type, QueuePairEvent.Kind.FATAL);
            case VerbsAbi.EVENT_QP_REQ_ERR -> queuePairEnded(element, type, QueuePairEvent.Kind.REQUEST_ERROR);
            case VerbsAbi.EVENT_QP_ACCESS_ERR -> {
                IbvQueuePair queuePair = queuePairs.get(element);
                if (queuePair != null) {
                    queuePair.accessRefused();
                }
                yield queuePairEnded(element, type, QueuePairEvent.Kind.ACCESS_ERROR);
            }
            case VerbsAbi.EVENT_QP_LAST_WQE_REACHED ->
                queuePairEnded(element, type, QueuePairEvent.Kind.LAST_REQUEST_REACHED);
            case VerbsAbi.EVENT_SQ_DRAINED -> {
                IbvQueuePair queuePair = queuePairs.get(element);
                yield () -> {
                    if (queuePair != null) {
                        queuePair.drained();
                    }
                };
            }
            case VerbsAbi.EVENT_SRQ_LIMIT_REACHED ->
                sharedReceiveQueue(element, SharedReceiveQueueEvent.Kind.LIMIT_REACHED);
            case VerbsAbi.EVENT_SRQ_ERR -> sharedReceiveQueue(element, SharedReceiveQueueEvent.Kind.ERROR);
            case VerbsAbi.EVENT_CQ_ERR -> {
                IbvCompletionQueue queue = completionQueues.get(element);
                yield () -> overrun(queue);
            }
            case VerbsAbi.EVENT_DEVICE_FATAL -> this::deviceFatal;
            case VerbsAbi.EVENT_PORT_ERR -> () -> portDown((int) element);
            case VerbsAbi.EVENT_PORT_ACTIVE -> () -> tellDevices(DeviceEvent.Kind.PORT_ACTIVE, port(element));
            default ->
                () -> {
                    LOG.log(System.Logger.Level.DEBUG, "{0}: {1}", deviceName(), name(type));
                    tellDevices(DeviceEvent.Kind.OTHER, name(type));
                };
        };
    }

    /** The application is told once the queue pair is in ERROR. */
    private Runnable queuePairEnded(long element, int type, QueuePairEvent.Kind kind) {
        IbvQueuePair queuePair = queuePairs.get(element);
        return () -> {
            if (queuePair != null) {
                fail(List.of(queuePair), "reported " + name(type));
                queuePair.happened(kind);
            }
        };
    }

    private Runnable sharedReceiveQueue(long element, SharedReceiveQueueEvent.Kind kind) {
        IbvSharedReceiveQueue queue = sharedReceiveQueues.get(element);
        return () -> {
            if (queue != null) {
                queue.happened(kind);
            }
        };
    }

    private void tellDevices(DeviceEvent.Kind kind, String detail) {
        devices.forEach(device -> device.happened(kind, detail));
    }

    private static String port(long element) {
        return "port " + (int) element;
    }

    private void fail(Iterable<IbvQueuePair> failed, String what) {
        for (IbvQueuePair queuePair : failed) {
            queuePair.enterError("the device " + deviceName() + " " + what);
        }
    }

    private void overrun(@Nullable IbvCompletionQueue queue) {
        if (queue != null) {
            queue.overrun();
            fail(
                    queuePairs.values().stream()
                            .filter(each -> each.sendsTo(queue) || each.receivesTo(queue))
                            .toList(),
                    "lost completions of a full completion queue");
            queue.happened();
        }
    }

    private void deviceFatal() {
        LOG.log(
                System.Logger.Level.ERROR,
                "{0}: {1}: its queue pairs no longer work; close the device and open it again",
                deviceName(),
                name(VerbsAbi.EVENT_DEVICE_FATAL));
        tellDevices(DeviceEvent.Kind.FATAL, name(VerbsAbi.EVENT_DEVICE_FATAL));
        fail(queuePairs.values(), "reported " + name(VerbsAbi.EVENT_DEVICE_FATAL));
    }

    private void portDown(int port) {
        LOG.log(
                System.Logger.Level.WARNING,
                "{0}: port {1} is down: connections stall until it is up again, or end",
                deviceName(),
                port);
        tellDevices(DeviceEvent.Kind.PORT_DOWN, port(port));
    }

    private String deviceName() {
        return ContextProbe.nameOf(context);
    }

    private static String name(int type) {
        return switch (type) {
            case VerbsAbi.EVENT_QP_FATAL -> "IBV_EVENT_QP_FATAL";
            case VerbsAbi.EVENT_QP_REQ_ERR -> "IBV_EVENT_QP_REQ_ERR";
            case VerbsAbi.EVENT_QP_ACCESS_ERR -> "IBV_EVENT_QP_ACCESS_ERR";
            case VerbsAbi.EVENT_DEVICE_FATAL -> "IBV_EVENT_DEVICE_FATAL";
            case VerbsAbi.EVENT_QP_LAST_WQE_REACHED -> "IBV_EVENT_QP_LAST_WQE_REACHED";
            default -> "asynchronous event " + type;
        };
    }
}
