package org.softrdma.disni.device;

import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;
import static org.mockito.Mockito.withSettings;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.softrdma.disni.library.DisniLibrary;
import org.softrdma.ibverbs.CmEventType;
import org.softrdma.ibverbs.WireProtocol;
import org.softrdma.verbs.Capabilities;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A DiSNI that does nothing but remember: its ids, queues and queue pairs are mocks, in the order in which they were
 * made, and a test says which events come. Thread-safe.
 */
final class MockedDisni implements DisniLibrary {
    static final InetAddress ADDRESS = InetAddress.ofLiteral("192.0.2.1");
    static final InetSocketAddress PEER = new InetSocketAddress(InetAddress.ofLiteral("192.0.2.2"), 7174);
    static final int PAIR_NUMBER = 17;

    private static final int SIZE = 1023;
    private static final int ENTRIES = 4;

    /** A completion that the next poll gives. */
    record Completion(long wrId, int status, int opcode, int length) {}

    final EventChannel channel = mock(EventChannel.class);
    final Context context = mock(Context.class);
    final Domain domain = mock(Domain.class);
    final List<Id> ids = new CopyOnWriteArrayList<>();
    final List<Queue> queues = new CopyOnWriteArrayList<>();
    final List<PreparedSend> sends = new CopyOnWriteArrayList<>();
    final List<PreparedReceive> receives = new CopyOnWriteArrayList<>();
    final List<PreparedPoll> polls = new CopyOnWriteArrayList<>();
    final BlockingQueue<Completion> completions = new LinkedBlockingQueue<>();
    final BlockingQueue<Boolean> completionEvents = new LinkedBlockingQueue<>();

    /** The events that the steps of an id bring; nothing for none. */
    volatile List<CmEventType> afterAddress = List.of(CmEventType.ADDR_RESOLVED);

    volatile List<CmEventType> afterRoute = List.of(CmEventType.ROUTE_RESOLVED);
    volatile List<CmEventType> afterConnect = List.of(CmEventType.ESTABLISHED);
    volatile List<CmEventType> afterAccept = List.of(CmEventType.ESTABLISHED);

    /** What happens whenever an event is taken. No test stubs that call: a thread of the device makes it all the time. */
    volatile Taking taking = () -> {};

    /** The thread of the device that takes events. */
    interface Taking {
        void begins() throws InterruptedException;
    }

    private final BlockingQueue<Event> events = new LinkedBlockingQueue<>();

    MockedDisni() {
        try {
            when(channel.createId()).thenAnswer(call -> id());
            when(channel.next(anyInt())).thenAnswer(call -> {
                taking.begins();
                return events.poll(call.<Integer>getArgument(0), TimeUnit.MILLISECONDS);
            });
            when(context.allocateDomain()).thenReturn(domain);
            when(context.completionVectors()).thenReturn(1);
            when(context.createQueue(anyInt(), anyInt())).thenAnswer(call -> queue());
            Region region = mock(Region.class);
            when(region.lkey()).thenReturn(5);
            when(region.rkey()).thenReturn(6);
            when(domain.register(anyLong(), anyInt(), anyInt())).thenReturn(region);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A device on it; null for a transport that the kernel does not tell. */
    VerbsDevice device(@Nullable WireProtocol transport) {
        Capabilities capabilities = Capabilities.builder("disni", String.valueOf(transport))
                .maxSendWorkRequests(SIZE)
                .maxReceiveWorkRequests(SIZE)
                .maxScatterGather(ENTRIES)
                .maxInline(64)
                .maxCompletionQueueEntries(SIZE)
                .maxMemoryRegions(SIZE)
                .maxRegionLength(Integer.MAX_VALUE)
                .maxMessageLength(Integer.MAX_VALUE)
                .maxOutboundReads(16)
                .maxInboundReads(16)
                .features(transport == null ? Set.of() : transport.connectionFeatures())
                .build();
        return DisniDevice.open(new BoundDevice(
                channel,
                id(),
                context,
                ADDRESS,
                "mock0",
                Optional.ofNullable(transport),
                Optional.empty(),
                capabilities));
    }

    @Override
    public EventChannel createEventChannel() {
        return channel;
    }

    /** An event of an id; null for one that DiSNI does not know any more. */
    void happen(CmEventType type, @Nullable Id id) {
        events.add(new Event(type, id, null));
    }

    private @Nullable Object happen(List<CmEventType> types, Id id) {
        types.forEach(type -> happen(type, id));
        return null;
    }

    /** A peer connects to a listening id. */
    Id request(Id listener) {
        Id request = id();
        events.add(new Event(CmEventType.CONNECT_REQUEST, request, listener));
        return request;
    }

    /** The id made last. */
    Id last() {
        return ids.getLast();
    }

    Id id() {
        try {
            Id id = mock(Id.class);
            when(id.context()).thenReturn(context);
            when(id.source()).thenReturn(new InetSocketAddress(ADDRESS, 4711));
            when(id.destination()).thenReturn(PEER);
            doAnswer(call -> happen(afterAddress, id)).when(id).resolveAddress(any(), anyInt());
            doAnswer(call -> happen(afterRoute, id)).when(id).resolveRoute(anyInt());
            doAnswer(call -> happen(afterConnect, id)).when(id).connect();
            doAnswer(call -> happen(afterAccept, id)).when(id).accept();
            when(id.createQueuePair(any(), any(), any(), anyInt(), anyInt(), anyInt()))
                    .thenAnswer(call -> pair());
            ids.add(id);
            return id;
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private Pair pair() throws IOException {
        Pair pair = mock(Pair.class);
        when(pair.number()).thenReturn(PAIR_NUMBER);
        when(pair.prepareSend(anyInt(), anyInt())).thenAnswer(call -> remembered(PreparedSend.class, sends));
        when(pair.prepareReceive(anyInt())).thenAnswer(call -> remembered(PreparedReceive.class, receives));
        return pair;
    }

    private static <T> T remembered(Class<T> type, List<T> list) {
        T made = mock(type);
        list.add(made);
        return made;
    }

    private Queue queue() throws IOException {
        Queue queue = mock(Queue.class);
        when(queue.preparePoll(anyInt())).thenAnswer(call -> poll(call.getArgument(0)));
        when(queue.takeEvent(anyInt()))
                .thenAnswer(call -> completionEvents.poll(call.<Integer>getArgument(0), TimeUnit.MILLISECONDS) != null);
        queues.add(queue);
        return queue;
    }

    private PreparedPoll poll(int size) throws IOException {
        PreparedPoll poll = mock(PreparedPoll.class, withSettings().name("poll of " + size));
        Completion[] batch = new Completion[size];
        when(poll.execute()).thenAnswer(call -> {
            int count = 0;
            while (count < size && !completions.isEmpty()) {
                batch[count++] = completions.remove();
            }
            return count;
        });
        when(poll.wrId(anyInt())).thenAnswer(call -> batch[call.<Integer>getArgument(0)].wrId());
        when(poll.status(anyInt())).thenAnswer(call -> batch[call.<Integer>getArgument(0)].status());
        when(poll.opcode(anyInt())).thenAnswer(call -> batch[call.<Integer>getArgument(0)].opcode());
        when(poll.byteLength(anyInt())).thenAnswer(call -> batch[call.<Integer>getArgument(0)].length());
        polls.add(poll);
        return poll;
    }
}
