package org.softrdma.rdmacore.fake;

import java.io.ByteArrayOutputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.softrdma.ibverbs.Errno;
import org.softrdma.ibverbs.RegionRights;
import org.softrdma.rdmacore.abi.CMemory;
import org.softrdma.rdmacore.abi.ConnectionManagerAbi;
import org.softrdma.rdmacore.abi.SocketAddresses;
import org.softrdma.rdmacore.abi.VerbsAbi;
import org.softrdma.rdmacore.abi.VerbsLibrary;
import org.softrdma.rdmacore.abi.WorkRequestAbi;
import org.softrdma.rdmacore.fake.FakeId.FakeEvents;
import org.softrdma.rdmacore.fake.FakeQueue.FakeChannel;
import org.softrdma.verbs.cm.DatagramService;

/**
 * libibverbs and librdmacm with one device whose connections end at itself. It is as slow as one lock and keeps what
 * it allocated; it flushes as rxe does, or as siw (not at all), and refuses what they refuse. Thread-safe.
 */
public class FakeVerbsLibrary implements VerbsLibrary {
    private static final int ADDR_RESOLVED = 0;
    private static final int ROUTE_RESOLVED = 2;
    private static final int CONNECT_REQUEST = 4;
    private static final int UNREACHABLE = 7;
    private static final int REJECTED = 8;
    private static final int ESTABLISHED = 9;
    private static final int DISCONNECTED = 10;
    private static final int INVALID_SERVICE_ID = 8;
    /** Status of an answer to a question for datagrams. */
    private static final int NO_SERVICE = 1;

    private static final int CONSUMER_DEFINED = 28;
    /** Descriptors must be open, so that /proc shows them; these always are. */
    private static final int CMD_FD = 1;

    private static final int ASYNC_FD = 2;
    private static final int SIW_VENDOR = 0x626D74;
    private static final int MAX_INLINE = 100;
    private static final int MAX_WORK = 16_384;
    private static final int MAX_SHARED_WORK = 1000;
    private static final int MAX_WINDOWS = 4096;
    private static final int CONTEXT_ROOM = 1024;
    private static final byte[] NO_DATA = {};

    /** An asynchronous event and what it is about. */
    private record AsyncEvent(int type, long element) {}

    /** A region: its memory, first address and rights. */
    private record Region(long domain, long memory, long length, long base, int access) {}

    private final boolean iwarp;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition acknowledged = lock.newCondition();
    private final FakeDescriptors descriptors = new FakeDescriptors(lock);
    private final long context;
    private final long devices = FakeMemory.allocate(2L * Long.BYTES);
    private final Map<Long, FakeChannel> channels = new HashMap<>();
    private final Map<Long, FakeQueue> queues = new HashMap<>();
    private final Map<Long, FakeQueuePair> queuePairs = new HashMap<>();
    private final Map<Long, FakeEvents> eventChannels = new HashMap<>();
    private final Map<Long, FakeId> ids = new HashMap<>();
    private final FakeMemory.Pool idMemory = new FakeMemory.Pool(FakeId.BYTES);
    private final FakeMemory.Pool queueMemory = new FakeMemory.Pool(FakeQueue.BYTES);
    private final FakeMemory.Pool sharedQueueMemory = new FakeMemory.Pool(FakeSharedQueue.BYTES);
    private final Map<Long, FakeSharedQueue> sharedQueues = new HashMap<>();
    private final FakeWindows windows = new FakeWindows();
    private final FakeAddresses addresses = new FakeAddresses();
    private final Map<Integer, Region> regions = new HashMap<>();
    private final Map<Long, Integer> domains = new HashMap<>();
    private final ArrayDeque<AsyncEvent> asyncEvents = new ArrayDeque<>();
    private final Map<Long, Integer> unacknowledged = new HashMap<>();
    private int nextKey = 1;
    private int nextQueuePair = 17;
    private int nextPort = 40_000;

    /**
     * A machine with one device.
     *
     * @param name of the device
     * @param iwarp its transport
     */
    public FakeVerbsLibrary(String name, boolean iwarp) {
        this.iwarp = iwarp;
        long device = FakeMemory.allocate(VerbsAbi.DEVICE.byteSize());
        CMemory.putBytes(device + VerbsAbi.DEVICE_NAME, name.getBytes(StandardCharsets.UTF_8));
        CMemory.putInt(
                device + VerbsAbi.DEVICE_TRANSPORT, iwarp ? VerbsAbi.TRANSPORT_IWARP : VerbsAbi.TRANSPORT_INFINIBAND);
        context = FakeMemory.allocate(2L * CONTEXT_ROOM) + CONTEXT_ROOM;
        CMemory.putLong(context + VerbsAbi.CONTEXT_DEVICE, device);
        CMemory.putInt(context + VerbsAbi.CONTEXT_CMD_FD, CMD_FD);
        CMemory.putInt(context + VerbsAbi.CONTEXT_ASYNC_FD, ASYNC_FD);
        descriptors.open(ASYNC_FD, () -> !asyncEvents.isEmpty());
        CMemory.putInt(context + VerbsAbi.CONTEXT_COMP_VECTORS, 2);
        CMemory.putLong(context + VerbsAbi.CONTEXT_ABI_COMPAT, VerbsAbi.EXTENDED_ABI);
        CMemory.putLong(context + VerbsAbi.CONTEXT_EXTENDED_SIZE, VerbsAbi.LEAST_EXTENDED_SIZE);
        CMemory.putLong(devices, context);
    }

    /** The one context. */
    public long context() {
        return context;
    }

    /** Objects that are alive, to be none at the end. */
    public int live() {
        return locked(() -> channels.size()
                + queues.size()
                + queuePairs.size()
                + eventChannels.size()
                + ids.size()
                + regions.size()
                + sharedQueues.size()
                + windows.live()
                + addresses.live()
                + domains.size()
                + descriptors.open()
                - 1); // of asynchronous events, as long as the context
    }

    /**
     * Raises an asynchronous event.
     *
     * @param type of {@code enum ibv_event_type}
     * @param element pointer of the queue pair, completion queue or shared receive queue, or the number of the port
     */
    public void raise(int type, long element) {
        locked(() -> {
            asyncEvents.addLast(new AsyncEvent(type, element));
            descriptors.change();
            return 0;
        });
    }

    /**
     * Raises an event of a connection.
     *
     * @param type of {@code enum rdma_cm_event_type}
     * @param pointer of an id
     */
    public void raiseConnectionEvent(int type, long pointer) {
        with(pointer, id -> {
            id.events.add(type, 0, id, 0, NO_DATA, 0, 0);
            return 0;
        });
    }

    /** Raises an event of a completion queue that has a channel, by its pointer. */
    public void raiseCompletionEvent(long queue) {
        locked(() -> {
            FakeQueue of = Objects.requireNonNull(queues.get(queue));
            of.raise(Objects.requireNonNull(of.channel));
            return 0;
        });
    }

    /** Pointer of the queue pair with a number. */
    public long queuePair(int number) {
        return lockedLong(() -> queuePairs.keySet().stream()
                .filter(each -> CMemory.getInt(each + VerbsAbi.QUEUE_PAIR_NUMBER) == number)
                .findFirst()
                .orElse(0L));
    }

    /** Pointer of the one completion queue there is. */
    public long queue() {
        return lockedLong(() -> queues.keySet().iterator().next());
    }

    /** Entries of every completion queue there is. */
    public List<Integer> queueSizes() {
        lock.lock();
        try {
            return queues.values().stream().map(FakeQueue::size).toList();
        } finally {
            lock.unlock();
        }
    }

    /** Pointer of the one shared receive queue there is. */
    public long sharedQueue() {
        return lockedLong(() -> sharedQueues.keySet().iterator().next());
    }

    FakeWindows windows() {
        return windows;
    }

    boolean iwarp() {
        return iwarp;
    }

    private int locked(IntSupplier action) {
        lock.lock();
        try {
            return action.getAsInt();
        } finally {
            lock.unlock();
        }
    }

    private long lockedLong(LongSupplier action) {
        lock.lock();
        try {
            return action.getAsLong();
        } finally {
            lock.unlock();
        }
    }

    // ---- memory

    /** The memory of a range that a peer of a queue pair may reach with a key, or 0. */
    long translate(FakeQueuePair of, long address, int length, int rkey, int right) {
        FakeWindows.Window window = windows.reach(of, rkey, address, length, right);
        return window == null
                ? translate(of.domain, address, length, rkey - 1, right)
                : translate(window.domain, address, length, window.lkey(), 0);
    }

    /** Binds a window, if the region allows it. */
    boolean bind(FakeQueuePair owner, FakeQueuePair.Work work) {
        FakeWindows.Bind bind = Objects.requireNonNull(work.bind());
        int needed = RegionRights.BIND_WINDOWS
                | ((bind.access() & ~RegionRights.REMOTE_READ) != 0 ? RegionRights.LOCAL_WRITE : 0);
        return bind.length() > 0
                && translate(owner.domain, bind.address(), (int) bind.length(), bind.lkey(), needed) != 0
                && windows.bind(owner, bind);
    }

    /** The memory of a range that a local key may reach, or 0. */
    long translate(long domain, long address, int length, int lkey, int access) {
        Region region = regions.get(lkey);
        if (region == null
                || region.domain != domain
                || (region.access & access) != access
                || address < region.base
                || address + length > region.base + region.length) {
            return 0;
        }
        return region.memory + (address - region.base);
    }

    /** The bytes of local entries, or null if one may not be reached. */
    byte @Nullable [] gather(long domain, List<FakeQueuePair.Piece> pieces, int access) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (FakeQueuePair.Piece piece : pieces) {
            if (piece.length() == 0) {
                continue; // no key is looked at
            }
            long memory = translate(domain, piece.address(), piece.length(), piece.lkey(), access);
            if (memory == 0) {
                return null;
            }
            bytes.writeBytes(CMemory.getBytes(memory, piece.length()));
        }
        return bytes.toByteArray();
    }

    @Override
    public long allocateDomain(long ofContext) {
        return lockedLong(() -> {
            long domain = FakeMemory.allocate(VerbsAbi.DOMAIN.byteSize());
            CMemory.putLong(domain + VerbsAbi.DOMAIN_CONTEXT, ofContext);
            domains.put(domain, 0);
            return domain;
        });
    }

    @Override
    public int deallocateDomain(long domain) {
        return locked(() -> {
            boolean used = regions.values().stream().anyMatch(region -> region.domain == domain)
                    || windows.anyOf(domain)
                    || sharedQueues.values().stream().anyMatch(each -> each.domain == domain)
                    || queuePairs.values().stream().anyMatch(each -> each.domain == domain);
            return used ? Errno.EBUSY : domains.remove(domain) == null ? Errno.EINVAL : 0;
        });
    }

    @Override
    public long registerRegion(long domain, long address, long length, long iova, int access) {
        return lockedLong(() -> {
            int key = nextKey;
            nextKey += 2;
            regions.put(key, new Region(domain, address, length, iova, access));
            long region = FakeMemory.allocate(VerbsAbi.REGION.byteSize());
            CMemory.putLong(region + VerbsAbi.REGION_DOMAIN, domain);
            CMemory.putLong(region + VerbsAbi.REGION_ADDRESS, address);
            CMemory.putLong(region + VerbsAbi.REGION_LENGTH, length);
            CMemory.putInt(region + VerbsAbi.REGION_LKEY, key);
            CMemory.putInt(region + VerbsAbi.REGION_RKEY, key + 1);
            return region;
        });
    }

    @Override
    public int reregisterRegion(long region, int changes, long domain, long address, long length, int access) {
        return locked(() -> {
            int lkey = CMemory.getInt(region + VerbsAbi.REGION_LKEY);
            Region old = regions.get(lkey);
            if (iwarp || old == null || windows.isBound(lkey)) {
                return iwarp ? Errno.EOPNOTSUPP : Errno.EINVAL;
            }
            boolean moves = (changes & VerbsAbi.CHANGE_MEMORY) != 0;
            Region changed = new Region(
                    (changes & VerbsAbi.CHANGE_DOMAIN) != 0 ? domain : old.domain,
                    moves ? address : old.memory,
                    moves ? length : old.length,
                    moves ? address : old.base,
                    (changes & VerbsAbi.CHANGE_ACCESS) != 0 ? access : old.access);
            regions.remove(lkey);
            int key = nextKey;
            nextKey += 2;
            regions.put(key, changed);
            CMemory.putInt(region + VerbsAbi.REGION_LKEY, key);
            CMemory.putInt(region + VerbsAbi.REGION_RKEY, key + 1);
            return 0;
        });
    }

    @Override
    public int deregisterRegion(long region) {
        return locked(() -> {
            int lkey = CMemory.getInt(region + VerbsAbi.REGION_LKEY);
            return windows.isBound(lkey) || regions.remove(lkey) == null ? Errno.EINVAL : 0;
        });
    }

    // ---- addresses

    @Override
    public int queryGid(long ofContext, int port, int index, long gid) {
        return locked(() -> addresses.query(index, gid));
    }

    @Override
    public long createAddressHandle(long domain, long attributes) {
        return lockedLong(() -> addresses.create(domain, attributes));
    }

    @Override
    public int destroyAddressHandle(long handle) {
        return locked(() -> addresses.destroy(handle));
    }

    private FakeQueuePair.Datagram datagram(long request) {
        return new FakeQueuePair.Datagram(
                addresses.require(CMemory.getLong(request + WorkRequestAbi.SEND_HANDLE)),
                CMemory.getInt(request + WorkRequestAbi.SEND_REMOTE_NUMBER),
                CMemory.getInt(request + WorkRequestAbi.SEND_QUEUE_KEY));
    }

    /** The queue pair with a number, if it suits; null if none does. */
    @Nullable
    FakeQueuePair find(int number, java.util.function.Predicate<FakeQueuePair> suits) {
        return queuePairs.values().stream()
                .filter(each -> each.number() == number && suits.test(each))
                .findFirst()
                .orElse(null);
    }

    // ---- queues

    @Override
    public long createCompletionChannel(long ofContext) {
        return lockedLong(() -> {
            FakeChannel channel = new FakeChannel(descriptors);
            channels.put(channel.pointer, channel);
            return channel.pointer;
        });
    }

    @Override
    public int destroyCompletionChannel(long channel) {
        return locked(() -> {
            boolean used = queues.values().stream()
                    .anyMatch(queue -> queue.channel != null && queue.channel.pointer == channel);
            if (used) {
                return Errno.EBUSY;
            }
            descriptors.close(CMemory.getInt(channel + VerbsAbi.COMPLETION_CHANNEL_FD));
            return channels.remove(channel) == null ? Errno.EINVAL : 0;
        });
    }

    @Override
    public long createCompletionQueue(long ofContext, int entries, long cookie, long channel, int vector) {
        return lockedLong(() -> {
            FakeQueue queue = new FakeQueue(
                    queueMemory.take(),
                    ofContext,
                    entries,
                    cookie,
                    channels.get(channel),
                    descriptors,
                    full -> raise(VerbsAbi.EVENT_CQ_ERR, full));
            queues.put(queue.pointer, queue);
            return queue.pointer;
        });
    }

    @Override
    public int resizeCompletionQueue(long queue, int entries) {
        return locked(() -> {
            FakeQueue resized = queues.get(queue);
            return iwarp ? Errno.EOPNOTSUPP : resized == null || !resized.resize(entries) ? Errno.EINVAL : 0;
        });
    }

    @Override
    public int destroyCompletionQueue(long queue) {
        return locked(() -> {
            requireAcknowledged(queue);
            FakeQueue gone = queues.remove(queue);
            if (gone != null && gone.channel != null) {
                gone.channel.events.removeIf(event -> event == queue);
            }
            if (gone == null) {
                return Errno.EINVAL;
            }
            queueMemory.giveBack(queue);
            return 0;
        });
    }

    @Override
    public long getCompletionEvent(long channel) {
        return lockedLong(() -> {
            FakeChannel from = channels.get(channel);
            Long event = from == null ? null : from.events.pollFirst();
            if (event == null) {
                return -Errno.EAGAIN;
            }
            unacknowledged.merge(event, 1, Integer::sum);
            return event;
        });
    }

    @Override
    public void acknowledgeCompletionEvents(long queue, int count) {
        acknowledge(queue, count);
    }

    @Override
    public long createSharedReceiveQueue(long domain, long attributes) {
        return lockedLong(() -> {
            int asked = CMemory.getInt(attributes + VerbsAbi.SHARED_INIT_MAX_RECEIVE);
            if (asked > MAX_SHARED_WORK || !domains.containsKey(domain)) {
                return -Errno.EINVAL;
            }
            long pointer = sharedQueueMemory.take();
            FakeSharedQueue made =
                    new FakeSharedQueue(pointer, domain, asked, () -> raise(VerbsAbi.EVENT_SRQ_LIMIT_REACHED, pointer));
            sharedQueues.put(pointer, made);
            return pointer;
        });
    }

    @Override
    public int modifySharedReceiveQueue(long queue, long attributes, int mask) {
        return locked(() -> {
            FakeSharedQueue modified = sharedQueues.get(queue);
            if (modified == null || mask != VerbsAbi.MODIFY_LIMIT) {
                return Errno.EINVAL;
            }
            modified.limit(CMemory.getInt(attributes + VerbsAbi.SHARED_QUEUE_LIMIT));
            return 0;
        });
    }

    @Override
    public int destroySharedReceiveQueue(long queue) {
        return locked(() -> {
            FakeSharedQueue gone = sharedQueues.get(queue);
            if (gone == null || queuePairs.values().stream().anyMatch(each -> each.shares(gone))) {
                return gone == null ? Errno.EINVAL : Errno.EBUSY;
            }
            requireAcknowledged(queue);
            sharedQueues.remove(queue);
            sharedQueueMemory.giveBack(queue);
            return 0;
        });
    }

    @Override
    public long createQueuePair(long domain, long attributes) {
        return lockedLong(() -> {
            FakeQueue sends = queues.get(CMemory.getLong(attributes + VerbsAbi.INIT_SEND_QUEUE));
            FakeQueue receives = queues.get(CMemory.getLong(attributes + VerbsAbi.INIT_RECEIVE_QUEUE));
            boolean tooMuch = CMemory.getInt(attributes + VerbsAbi.INIT_MAX_INLINE) > MAX_INLINE;
            if (sends == null || receives == null || tooMuch || !domains.containsKey(domain)) {
                return -Errno.EINVAL;
            }
            int type = CMemory.getInt(attributes + VerbsAbi.INIT_TYPE);
            if (iwarp && type != VerbsAbi.RELIABLE_CONNECTION) {
                return -Errno.EOPNOTSUPP;
            }
            FakeQueuePair made = new FakeQueuePair(
                    this,
                    nextQueuePair++,
                    type,
                    domain,
                    sends,
                    receives,
                    sharedQueues.get(CMemory.getLong(attributes + VerbsAbi.INIT_SHARED_QUEUE)));
            queuePairs.put(made.pointer, made);
            return made.pointer;
        });
    }

    @Override
    public int modifyQueuePair(long queuePair, long attributes, int mask) {
        return locked(() -> {
            FakeQueuePair changed = queuePairs.get(queuePair);
            int state = CMemory.getInt(attributes + VerbsAbi.MODIFY_QP_STATE);
            if (changed == null || (state == VerbsAbi.STATE_ERROR && mask != VerbsAbi.MODIFY_STATE)) {
                return Errno.EINVAL;
            }
            if ((mask & VerbsAbi.MODIFY_STATE) == 0) {
                return changed.change(attributes, mask) ? 0 : Errno.EINVAL;
            }
            if (state != VerbsAbi.STATE_ERROR) {
                return changed.move(state, attributes, mask) ? 0 : Errno.EINVAL;
            }
            changed.fail();
            descriptors.change();
            return 0;
        });
    }

    @Override
    public int destroyQueuePair(long queuePair) {
        return locked(() -> {
            requireAcknowledged(queuePair);
            FakeQueuePair gone = queuePairs.remove(queuePair);
            if (gone == null) {
                return Errno.EINVAL;
            }
            gone.gone();
            return 0;
        });
    }

    /**
     * Where the real library would wait for the acknowledgement of another thread. Events not yet read are dropped.
     */
    private void requireAcknowledged(long element) {
        asyncEvents.removeIf(event -> event.element == element);
        while (unacknowledged.getOrDefault(element, 0) > 0) {
            acknowledged.awaitUninterruptibly();
        }
    }

    @Override
    public int getAsyncEvent(long ofContext, long event) {
        return locked(() -> {
            AsyncEvent next = asyncEvents.pollFirst();
            if (next == null) {
                return Errno.EAGAIN;
            }
            unacknowledged.merge(next.element, 1, Integer::sum);
            CMemory.putLong(event + VerbsAbi.ASYNC_EVENT_ELEMENT, next.element);
            CMemory.putInt(event + VerbsAbi.ASYNC_EVENT_TYPE, next.type);
            return 0;
        });
    }

    @Override
    public void acknowledgeAsyncEvent(long event) {
        acknowledge(CMemory.getLong(event + VerbsAbi.ASYNC_EVENT_ELEMENT), 1);
    }

    private int acknowledge(long element, int count) {
        return locked(() -> {
            unacknowledged.merge(element, -count, Integer::sum);
            acknowledged.signalAll();
            return 0;
        });
    }

    @Override
    public Operations operations(long ofContext) {
        return new Operations() {
            @Override
            public int postSend(long queuePair, long workRequests, long bad) {
                return locked(() -> {
                    FakeQueuePair to = queuePairs.get(queuePair);
                    for (long at = workRequests;
                            at != 0 && to != null;
                            at = CMemory.getLong(at + WorkRequestAbi.SEND_NEXT)) {
                        FakeQueuePair.Work work = FakeQueuePair.copy(
                                at,
                                CMemory.getInt(at + WorkRequestAbi.SEND_OPCODE),
                                WorkRequestAbi.SEND_ENTRIES,
                                CMemory.getInt(at + WorkRequestAbi.SEND_ENTRY_COUNT),
                                CMemory.getInt(at + WorkRequestAbi.SEND_FLAGS));
                        if (to != null && to.isOfDatagrams()) {
                            work = work.to(datagram(at));
                        }
                        if (work.isRefused()) {
                            CMemory.putLong(bad, at);
                            return Errno.EINVAL;
                        }
                        to.postSend(work);
                    }
                    return to == null ? Errno.EINVAL : 0;
                });
            }

            @Override
            public int postReceive(long queuePair, long workRequests, long bad) {
                return locked(() -> {
                    FakeQueuePair to = queuePairs.get(queuePair);
                    boolean empty = CMemory.getInt(workRequests + WorkRequestAbi.RECEIVE_ENTRY_COUNT) == 0;
                    if (to == null || (iwarp && empty)) {
                        return Errno.EINVAL; // libsiw wants an entry, if of no bytes
                    }
                    to.postReceive(FakeQueuePair.copy(
                            workRequests,
                            -1,
                            WorkRequestAbi.RECEIVE_ENTRIES,
                            CMemory.getInt(workRequests + WorkRequestAbi.RECEIVE_ENTRY_COUNT),
                            0));
                    return 0;
                });
            }

            @Override
            public int postSharedReceive(long sharedQueue, long workRequests, long bad) {
                return locked(() -> {
                    FakeSharedQueue to = sharedQueues.get(sharedQueue);
                    int count = CMemory.getInt(workRequests + WorkRequestAbi.RECEIVE_ENTRY_COUNT);
                    if (to == null || (iwarp && count == 0)) {
                        return Errno.EINVAL;
                    }
                    if (!to.post(FakeQueuePair.copy(workRequests, -1, WorkRequestAbi.RECEIVE_ENTRIES, count, 0))) {
                        return Errno.ENOMEM;
                    }
                    List.copyOf(queuePairs.values()).stream()
                            .filter(each -> each.shares(to))
                            .forEach(FakeQueuePair::receivePosted);
                    return 0;
                });
            }

            @Override
            public long allocateWindow(long domain, int type) {
                return lockedLong(() -> iwarp ? -Errno.EOPNOTSUPP : windows.allocate(domain, type));
            }

            @Override
            public int deallocateWindow(long window) {
                return locked(() -> windows.deallocate(window) ? 0 : Errno.EINVAL);
            }

            @Override
            public int poll(long queue, int max, long completions) {
                return locked(() -> {
                    FakeQueue from = queues.get(queue);
                    return from == null ? -1 : from.poll(max, completions);
                });
            }

            @Override
            public int requestNotification(long queue, int solicitedOnly) {
                return locked(() -> {
                    FakeQueue armed = queues.get(queue);
                    if (armed == null) {
                        return Errno.EINVAL;
                    }
                    armed.arm(solicitedOnly != 0);
                    return 0;
                });
            }
        };
    }

    // ---- the device

    @Override
    public long getDevices() {
        return devices;
    }

    @Override
    public void freeDevices(long array) {
        // Its one context lives on.
    }

    @Override
    public long deviceName(long device) {
        return device + VerbsAbi.DEVICE_NAME;
    }

    @Override
    public int queryDevice(long ofContext, long attributes) {
        CMemory.putInt(attributes + VerbsAbi.VENDOR_ID, iwarp ? SIW_VENDOR : 0);
        CMemory.putLong(attributes + VerbsAbi.MAX_MR_SIZE, -1);
        CMemory.putInt(attributes + VerbsAbi.MAX_QP_WR, MAX_WORK);
        CMemory.putInt(attributes + VerbsAbi.MAX_SGE, 6);
        CMemory.putInt(attributes + VerbsAbi.MAX_SGE_RD, 6);
        CMemory.putInt(attributes + VerbsAbi.MAX_CQE, 1 << 20);
        CMemory.putInt(attributes + VerbsAbi.MAX_MR, 1 << 20);
        CMemory.putInt(attributes + VerbsAbi.MAX_SRQ, 64);
        CMemory.putInt(attributes + VerbsAbi.MAX_SRQ_WR, MAX_SHARED_WORK);
        CMemory.putInt(attributes + VerbsAbi.MAX_SRQ_SGE, 6);
        CMemory.putInt(attributes + VerbsAbi.MAX_AH, 1 << 15);
        CMemory.putInt(attributes + VerbsAbi.MAX_MW, iwarp ? 0 : MAX_WINDOWS);
        CMemory.putInt(attributes + VerbsAbi.ATOMIC_CAPABILITY, iwarp ? 0 : VerbsAbi.ATOMIC_IN_DEVICE);
        CMemory.putInt(
                attributes + VerbsAbi.DEVICE_CAPABILITIES,
                VerbsAbi.CAPABLE_OF_MEMORY_MANAGEMENT | (iwarp ? 0 : VerbsAbi.CAPABLE_OF_WINDOWS_OF_TYPE_2));
        CMemory.putInt(attributes + VerbsAbi.MAX_QP_RD_ATOM, 128);
        CMemory.putInt(attributes + VerbsAbi.MAX_QP_INIT_RD_ATOM, 128);
        return 0;
    }

    @Override
    public int queryPort(long ofContext, int port, long attributes) {
        CMemory.putInt(attributes + VerbsAbi.MAX_MSG_SZ, 1 << 23);
        CMemory.putInt(attributes + VerbsAbi.ACTIVE_MTU, 3);
        CMemory.putInt(attributes + VerbsAbi.GID_TABLE_LENGTH, FakeAddresses.TABLE);
        CMemory.putByte(attributes + VerbsAbi.LINK_LAYER, (byte) VerbsAbi.LINK_LAYER_ETHERNET);
        return 0;
    }

    // ---- connections

    @Override
    public long createEventChannel() {
        return lockedLong(() -> {
            FakeEvents events = new FakeEvents(descriptors);
            eventChannels.put(events.pointer, events);
            return events.pointer;
        });
    }

    @Override
    public void destroyEventChannel(long channel) {
        locked(() -> {
            eventChannels.remove(channel);
            descriptors.close(CMemory.getInt(channel + ConnectionManagerAbi.EVENT_CHANNEL_FD));
            return 0;
        });
    }

    @Override
    public long createId(long channel, long cookie, int portSpace) {
        return lockedLong(() -> {
            FakeEvents events = eventChannels.get(channel);
            if (events == null) {
                return -Errno.EINVAL;
            }
            FakeId id = new FakeId(idMemory.take(), events, cookie, portSpace);
            ids.put(id.pointer, id);
            return id.pointer;
        });
    }

    /** Does something with an id that there is. */
    private int with(long pointer, IdAction action) {
        return locked(() -> {
            FakeId id = ids.get(pointer);
            return id == null ? Errno.EINVAL : action.with(id);
        });
    }

    private interface IdAction {
        int with(FakeId id);
    }

    @Override
    public int destroyId(long pointer) {
        return with(pointer, id -> {
            requireAcknowledged(pointer);
            ids.remove(pointer);
            part(id);
            FakeId other = id.peer;
            if (other != null && other.peer == id) {
                if (!id.connected) {
                    reject(other, NO_DATA);
                }
                other.peer = null;
            }
            id.events.waiting.removeIf(event -> CMemory.getLong(event + ConnectionManagerAbi.EVENT_ID) == pointer);
            idMemory.giveBack(pointer);
            return 0;
        });
    }

    @Override
    public int bindAddress(long pointer, long socketAddress) {
        return with(pointer, id -> {
            InetSocketAddress asked = SocketAddresses.read(socketAddress);
            if (!asked.getAddress().isLoopbackAddress() && !asked.getAddress().isAnyLocalAddress()) {
                return Errno.EADDRNOTAVAIL;
            }
            int port = asked.getPort() == 0 ? nextPort++ : asked.getPort();
            if (listenerOn(port, id.portSpace()) != null) {
                return Errno.EADDRINUSE;
            }
            SocketAddresses.write(id.source(), new InetSocketAddress(asked.getAddress(), port));
            return 0;
        });
    }

    private @Nullable FakeId listenerOn(int port, int portSpace) {
        return ids.values().stream()
                .filter(id -> id.listening
                        && id.portSpace() == portSpace
                        && SocketAddresses.read(id.source()).getPort() == port)
                .findFirst()
                .orElse(null);
    }

    @Override
    public int listen(long pointer, int backlog) {
        return with(pointer, id -> {
            id.listening = true;
            return 0;
        });
    }

    @Override
    public int resolveAddress(long pointer, long source, long destination, int timeoutMs) {
        return with(pointer, id -> {
            InetSocketAddress to = SocketAddresses.read(destination);
            SocketAddresses.write(id.destination(), to);
            SocketAddresses.write(id.source(), new InetSocketAddress(to.getAddress(), nextPort++));
            CMemory.putLong(id.pointer + ConnectionManagerAbi.ID_CONTEXT, context);
            id.events.add(ADDR_RESOLVED, 0, id, 0, NO_DATA, 0, 0);
            return 0;
        });
    }

    @Override
    public int resolveRoute(long pointer, int timeoutMs) {
        return with(pointer, id -> {
            id.events.add(ROUTE_RESOLVED, 0, id, 0, NO_DATA, 0, 0);
            return 0;
        });
    }

    @Override
    public int createQueuePair(long pointer, long domain, long attributes) {
        return with(pointer, id -> {
            long made = createQueuePair(domain, attributes);
            if (VerbsLibrary.isError(made)) {
                return (int) -made;
            }
            id.queuePair = queuePairs.get(made);
            CMemory.putLong(pointer + ConnectionManagerAbi.ID_QUEUE_PAIR, made);
            return 0;
        });
    }

    @Override
    public void destroyQueuePairOf(long pointer) {
        with(pointer, id -> {
            part(id);
            id.queuePair = null;
            return destroyQueuePair(CMemory.getLong(pointer + ConnectionManagerAbi.ID_QUEUE_PAIR));
        });
    }

    private static byte[] data(long parameters) {
        long data = CMemory.getLong(parameters + ConnectionManagerAbi.PARAMETERS_DATA);
        int length = CMemory.getByte(parameters + ConnectionManagerAbi.PARAMETERS_DATA_LENGTH) & 0xFF;
        return data == 0 ? NO_DATA : CMemory.getBytes(data, length);
    }

    private static int depth(long parameters, long field) {
        return CMemory.getByte(parameters + field) & 0xFF;
    }

    @Override
    public int setAckTimeout(long pointer, int shift) {
        return with(pointer, id -> 0);
    }

    @Override
    public int connect(long pointer, long parameters) {
        return with(pointer, id -> {
            FakeId listener = listenerOn(SocketAddresses.read(id.destination()).getPort(), id.portSpace());
            if (listener == null) {
                if (iwarp) {
                    return Errno.ECONNREFUSED;
                }
                boolean datagrams = id.isOfDatagrams();
                id.events.add(
                        datagrams ? UNREACHABLE : REJECTED,
                        datagrams ? NO_SERVICE : INVALID_SERVICE_ID,
                        id,
                        0,
                        NO_DATA,
                        0,
                        0);
                return 0;
            }
            FakeId request = new FakeId(idMemory.take(), listener.events, 0, id.portSpace());
            CMemory.putLong(request.pointer + ConnectionManagerAbi.ID_CONTEXT, context);
            SocketAddresses.write(request.source(), SocketAddresses.read(id.destination()));
            SocketAddresses.write(request.destination(), SocketAddresses.read(id.source()));
            ids.put(request.pointer, request);
            request.peer = id;
            id.peer = request;
            id.wantedDepth = depth(parameters, ConnectionManagerAbi.PARAMETERS_INITIATOR_DEPTH);
            id.grantedDepth = depth(parameters, ConnectionManagerAbi.PARAMETERS_RESPONDER_RESOURCES);
            listener.events.add(
                    CONNECT_REQUEST, 0, request, listener.pointer, data(parameters), id.wantedDepth, id.grantedDepth);
            return 0;
        });
    }

    @Override
    public int accept(long pointer, long parameters) {
        return with(pointer, id -> {
            FakeId other = id.peer;
            FakeQueuePair mine = id.queuePair;
            if (other != null && id.isOfDatagrams()) {
                int number = CMemory.getInt(parameters + ConnectionManagerAbi.PARAMETERS_QUEUE_PAIR);
                other.events.addAnswer(ESTABLISHED, other, data(parameters), number, DatagramService.QUEUE_KEY);
                other.peer = null;
                id.peer = null;
                return 0;
            }
            if (other == null || mine == null || other.queuePair == null) {
                return Errno.ECONNRESET;
            }
            mine.connect(other.queuePair);
            other.queuePair.connect(mine);
            id.connected = true;
            other.connected = true;
            int depth = depth(parameters, ConnectionManagerAbi.PARAMETERS_INITIATOR_DEPTH);
            int granted = depth(parameters, ConnectionManagerAbi.PARAMETERS_RESPONDER_RESOURCES);
            int most = Math.min(other.wantedDepth, granted);
            // siw tells them the other way round.
            other.events.add(ESTABLISHED, 0, other, 0, data(parameters), iwarp ? most : depth, iwarp ? depth : most);
            id.events.add(ESTABLISHED, 0, id, 0, NO_DATA, 0, 0);
            return 0;
        });
    }

    @Override
    public int reject(long pointer, long privateData, int length) {
        return with(pointer, id -> {
            FakeId other = id.peer;
            if (other == null || id.connected) {
                return Errno.EINVAL;
            }
            reject(other, length == 0 ? NO_DATA : CMemory.getBytes(privateData, length));
            return 0;
        });
    }

    private void reject(FakeId other, byte[] why) {
        other.peer = null;
        other.events.add(REJECTED, iwarp ? -Errno.ECONNRESET : CONSUMER_DEFINED, other, 0, why, 0, 0);
    }

    @Override
    public int disconnect(long pointer) {
        return with(pointer, id -> {
            if (!id.connected) {
                return Errno.EINVAL;
            }
            if (id.queuePair != null) {
                id.queuePair.fail();
            }
            part(id);
            return 0;
        });
    }

    /** A queue pair on iWARP has ended its connection. */
    void connectionLost(FakeQueuePair queuePair) {
        for (FakeId id : ids.values()) {
            if (id.queuePair == queuePair) {
                part(id);
            }
        }
    }

    /** Both sides hear of the end of a connection. */
    private void part(FakeId id) {
        FakeId other = id.peer;
        if (id.connected && other != null && other.connected) {
            id.connected = false;
            other.connected = false;
            if (iwarp && other.queuePair != null) {
                other.queuePair.fail();
            }
            other.events.add(DISCONNECTED, 0, other, 0, NO_DATA, 0, 0);
            id.events.add(DISCONNECTED, 0, id, 0, NO_DATA, 0, 0);
        }
    }

    @Override
    public long getConnectionEvent(long channel) {
        return lockedLong(() -> {
            FakeEvents events = eventChannels.get(channel);
            Long event = events == null ? null : events.waiting.pollFirst();
            if (event == null) {
                return -Errno.EAGAIN;
            }
            unacknowledged.merge(countedBy(event), 1, Integer::sum);
            return event;
        });
    }

    /** The id that waits for the acknowledgement: of a connect request the listening one. */
    private static long countedBy(long event) {
        long listener = CMemory.getLong(event + ConnectionManagerAbi.EVENT_LISTEN_ID);
        return listener == 0 ? CMemory.getLong(event + ConnectionManagerAbi.EVENT_ID) : listener;
    }

    @Override
    public int acknowledgeConnectionEvent(long event) {
        return acknowledge(countedBy(event), 1);
    }

    // ---- descriptors

    @Override
    public int poll(long polled, int count, int timeoutMs) {
        return locked(() -> descriptors.poll(polled, count, timeoutMs));
    }

    @Override
    public int setNonBlocking(int descriptor) {
        return 0;
    }

    @Override
    public int createWakeDescriptor() {
        return locked(descriptors::openWake);
    }

    @Override
    public void wake(int descriptor) {
        locked(() -> {
            descriptors.wake(descriptor, true);
            return 0;
        });
    }

    @Override
    public void quiet(int descriptor) {
        locked(() -> {
            descriptors.wake(descriptor, false);
            return 0;
        });
    }

    @Override
    public void closeDescriptor(int descriptor) {
        locked(() -> {
            descriptors.close(descriptor);
            return 0;
        });
    }
}
