package org.softrdma.run.card;

import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.softrdma.fabric.fault.What;
import org.softrdma.run.faults.CardFaults;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.ErrorNumber;
import org.softrdma.run.rxe.BindElement;
import org.softrdma.run.rxe.CompletionElement;
import org.softrdma.run.rxe.ReceiveElement;
import org.softrdma.run.rxe.RxeRing;
import org.softrdma.run.rxe.SendElement;
import org.softrdma.sim.device.SoftRdmaDevice;
import org.softrdma.sim.queue.SoftCompletionQueue;
import org.softrdma.sim.roce.wire.Gid;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.AddressHandle;
import org.softrdma.verbs.AsyncEvent.QueuePairEvent;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.QueuePairType;
import org.softrdma.verbs.ReceiveAttributes;
import org.softrdma.verbs.ReceiveWorkRequest;
import org.softrdma.verbs.SendAttributes;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.UnconnectedQueuePair;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.WorkCompletion;

/**
 * A program's queue pair: a queue pair of the RNIC between the program's rings.
 *
 * <pre>
 *   doorbell --> requests are read out of the ring, and posted
 *                    each is completed, in order --> ring of completions, place in the ring of requests is free
 *   message needs a RECV --> one is read out of the ring, and posted
 *                    it is completed --> ring of completions
 * </pre>
 *
 * <p>Every request gives a completion here, also one that the program does not want to hear of: it frees its place in the ring. What
 * cannot be done at all is posted as a request that fails, so that it fails in its turn, and costs the program this queue pair.
 */
public final class CardPair {
    private static final System.Logger LOG = System.getLogger(CardPair.class.getName());

    /** No region has these addresses. */
    private static final long NOWHERE = -2;

    private static final int NONE = -1;

    /** As verbs number asynchronous events. */
    private static final int FATAL = 1;

    private static final int REQUEST_ERROR = 2;
    private static final int ACCESS_ERROR = 3;
    private static final int SEND_QUEUE_DRAINED = 5;
    private static final int LAST_REQUEST_REACHED = 16;

    private final Environment card;
    private final SoftRdmaDevice device;
    private final Parts parts;
    private final CompletionQueue sent;
    private final CompletionQueue taken;
    private final UnconnectedQueuePair pair;
    /** Of datagrams, which the card sends from INIT on: how far the program has taken it. */
    private QueuePairState step = QueuePairState.RESET;

    private int raised;

    private final Set<Gid> groups = new HashSet<>();

    private final SendWorkRequest request = new SendWorkRequest();
    private int posted;

    /** Of datagrams that cannot be sent. */
    private @Nullable CardAddress toSelf;

    /** Place of a request that cannot be done. */
    private int impossible = NONE;

    /** A fault has failed a request: what comes is flushed, and the queue pair goes to ERR. */
    private boolean failed;

    private final ReceiveWorkRequest receive = new ReceiveWorkRequest();
    private int completed;
    private int received;
    /** RECVs that were flushed without a pause: a program that posts for ever must not keep the card. */
    private int flushes;

    /**
     * What a queue pair is made of.
     *
     * @param cookie by which the program knows it
     * @param asyncEvents writing end of the context's asynchronous events
     * @param events writes them
     * @param domain its protection domain
     * @param type of it
     * @param pieces of a request to send
     * @param receivePieces of a RECV
     * @param inline bytes
     * @param allSignalled whether every request gives a completion
     * @param sends ring of requests
     * @param receives ring of RECVs; null if they are shared
     * @param shared of RECVs; null if there are none
     * @param destinations where its datagrams go; asked by queue pairs of datagrams only
     */
    public record Parts(
            long cookie,
            int asyncEvents,
            EventWriter events,
            ProtectionDomain domain,
            QueuePairType type,
            int pieces,
            int receivePieces,
            int inline,
            boolean allSignalled,
            RxeRing sends,
            @Nullable RxeRing receives,
            @Nullable SharedReceiveRing shared,
            CompletionRing sendCompletions,
            CompletionRing receiveCompletions,
            Destinations destinations) {
        boolean hasDatagrams() {
            return type == QueuePairType.UNRELIABLE_DATAGRAM;
        }
    }

    /** Where a program's datagrams go. */
    public interface Destinations {
        /** The address handle with a number that the program was told. */
        CardAddress numbered(int handle) throws CallRefusedException;

        /** An address handle that the request has itself. */
        CardAddress of(Gid there, int ownGid) throws CallRefusedException;

        /** No request asks any more. */
        void close();
    }

    /**
     * What a queue pair asks of its card.
     *
     * @param work what was posted goes on its way
     * @param closed it is gone
     * @param windows the memory window that a key names; null if there is none
     * @param locals addresses of this host of the family of another one
     * @param faults what goes wrong
     */
    record Environment(
            Runnable work,
            Consumer<QueuePair> closed,
            IntFunction<@Nullable CardWindow> windows,
            Function<InetAddress, List<InetAddress>> locals,
            CardFaults faults) {}

    /** A queue pair in RESET. */
    CardPair(Environment card, SoftRdmaDevice device, Parts parts) throws CallRefusedException {
        this.card = card;
        this.device = device;
        this.parts = parts;
        sent = CardErrors.of(() -> device.createCompletionQueue(1));
        taken = CardErrors.of(() -> device.createCompletionQueue(1));
        ((SoftCompletionQueue) sent).takenBy((completion, solicited) -> sent(completion));
        ((SoftCompletionQueue) taken).takenBy(this::taken);
        try {
            pair = CardErrors.of(this::create);
        } catch (CallRefusedException | RuntimeException | Error e) {
            closeQueues();
            throw e;
        }
    }

    private UnconnectedQueuePair create() {
        QueuePairLimits limits = new QueuePairLimits(
                parts.sends.capacity() + 1,
                /* maxReceiveWorkRequests= */ 1, // each is asked for when a message needs it
                Math.max(1, parts.pieces),
                Math.max(1, parts.receivePieces),
                parts.inline);
        QueuePairAttributes attributes =
                new QueuePairAttributes(sent, taken, limits, /* signalAll= */ true).withType(parts.type);
        SharedReceiveRing shared = parts.shared;
        UnconnectedQueuePair made = parts.domain.createQueuePair(
                shared == null ? attributes : attributes.withSharedReceives(shared.queue()));
        if (shared == null) {
            device.supplyReceives(made, this::supply);
        }
        made.reset();
        return made;
    }

    /** The number by which peers know it. */
    public int number() {
        return pair.number();
    }

    /** Its state now. */
    public QueuePairState state() {
        QueuePairState now = pair.state();
        return parts.hasDatagrams() && (now == QueuePairState.RESET || now == QueuePairState.READY_TO_SEND)
                ? step
                : now;
    }

    /** Whether requests that were begun before it was to drain are not complete. */
    public boolean isDraining() {
        return pair.isDraining();
    }

    /** How many asynchronous events there were. */
    public int raised() {
        return raised;
    }

    /** Something has happened to it. */
    void tell(QueuePairEvent.Kind kind) {
        int number = switch (kind) {
            case FATAL -> FATAL;
            case REQUEST_ERROR -> REQUEST_ERROR;
            case ACCESS_ERROR -> ACCESS_ERROR;
            case SEND_QUEUE_DRAINED -> SEND_QUEUE_DRAINED;
            case LAST_REQUEST_REACHED -> LAST_REQUEST_REACHED;
        };
        if (parts.events.asynchronous(parts.asyncEvents, parts.cookie, number)) {
            raised++;
        }
    }

    UnconnectedQueuePair pair() {
        return pair;
    }

    // ---- states

    /** RESET to INIT. */
    public void initialise(Set<AccessFlag> rights) throws CallRefusedException {
        if (!parts.hasDatagrams()) {
            CardErrors.of(() -> pair.initialise(rights));
        }
        step = QueuePairState.INITIAL;
    }

    /** Of datagrams: those that come must have this key. */
    public void useQueueKey(int key) throws CallRefusedException {
        CardErrors.of(() -> device.useQueueKey(pair, key));
    }

    /** Takes what comes to a multicast group, of datagrams. */
    public void join(Gid group) throws CallRefusedException {
        InetAddress address = group.address();
        if (!parts.hasDatagrams() || !address.isMulticastAddress()) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
        if (groups.add(group)) {
            try {
                CardErrors.of(() -> device.join(pair, address, card.locals().apply(address)));
            } catch (CallRefusedException e) {
                groups.remove(group);
                throw e;
            }
        }
    }

    /** Takes it no more. */
    public void leave(Gid group) throws CallRefusedException {
        if (!groups.remove(group)) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
        boolean ignored = CardErrors.of(() -> device.leave(pair, group.address()));
    }

    /** Whether it has joined a group. */
    public boolean isInGroup() {
        return !groups.isEmpty();
    }

    /** INIT to RTR, of datagrams. */
    public void receiveDatagrams() throws CallRefusedException {
        CardErrors.of(() -> pair.initialise(Set.of()));
        step = QueuePairState.READY_TO_RECEIVE;
    }

    /** RTR to RTS, of datagrams. */
    public void sendDatagrams() {
        step = QueuePairState.READY_TO_SEND;
    }

    /** Changes what the peer may do. */
    public void permit(Set<AccessFlag> rights) throws CallRefusedException {
        CardErrors.of(() -> pair.permit(rights));
    }

    /** The address of this host that it is at. */
    public InetAddress local() {
        return pair.address().host().getAddress();
    }

    /** Goes to another address of this host, in INIT. */
    public void useAddress(InetAddress local) throws CallRefusedException {
        InetAddress before = local();
        if (before.equals(local)) {
            return;
        }
        int port = pair.address().host().getPort();
        CardErrors.of(() -> device.useAddress(pair, local));
        if (pair.address().host().getPort() != port) { // peers would look for it at that port
            CardErrors.of(() -> device.useAddress(pair, before));
            throw new CallRefusedException(ErrorNumber.EADDRNOTAVAIL);
        }
    }

    /** INIT to RTR. */
    public void readyToReceive(ReceiveAttributes attributes) throws CallRefusedException {
        CardErrors.of(() -> pair.readyToReceive(attributes));
    }

    /** Goes on with its peer by other terms, in RTS and SQD; not of datagrams. */
    public void change(ReceiveAttributes receives, SendAttributes sends) throws CallRefusedException {
        CardErrors.of(() -> device.change(pair, receives, sends));
    }

    /** RTR to RTS. */
    public void readyToSend(SendAttributes attributes) throws CallRefusedException {
        CardErrors.of(() -> pair.readyToSend(attributes));
    }

    /** RTS to SQD. */
    public void drain() throws CallRefusedException {
        CardErrors.of(pair::drain);
    }

    /** SQD or SQE to RTS. */
    public void resume() throws CallRefusedException {
        CardErrors.of(pair::resume);
    }

    /** To ERR; when this returns, what was posted is flushed. */
    public void fail() throws CallRefusedException {
        CardErrors.of(pair::disconnect);
    }

    /** To RESET: what is in the rings is forgotten. */
    public void reset() throws CallRefusedException {
        CardErrors.of(pair::reset);
        step = QueuePairState.RESET;
        posted = parts.sends.producer();
        completed = posted;
        parts.sends.consumed(posted);
        impossible = NONE;
        failed = false;
        flushes = 0;
        RxeRing receives = parts.receives;
        if (receives != null) {
            received = receives.producer();
            receives.consumed(received);
        }
    }

    /** Takes it away. */
    public void close() {
        failed = false;
        pair.close();
        parts.destinations.close();
        CardAddress made = toSelf;
        if (made != null) {
            made.close();
        }
        closeQueues();
        card.closed().accept(pair);
    }

    private void closeQueues() {
        sent.close();
        taken.close();
    }

    // ---- requests

    /**
     * Posts what is in the ring.
     *
     * @throws CallRefusedException if it cannot send yet
     */
    public void doorbell() throws CallRefusedException {
        switch (state()) {
            case RESET, INITIAL, READY_TO_RECEIVE, CLOSED -> throw new CallRefusedException(ErrorNumber.EINVAL);
            case READY_TO_SEND, SEND_QUEUE_DRAIN, SEND_QUEUE_ERROR, ERROR -> postAll();
        }
    }

    /** Takes what was written into the ring for a doorbell that fails out of it. */
    public void takeBack() {
        parts.sends.produced(posted);
    }

    private void postAll() throws CallRefusedException {
        RxeRing ring = parts.sends;
        int end = ring.producer();
        while (posted != end) {
            if (post(ring, posted) != PostStatus.ACCEPTED) {
                fail(); // an index that names more requests than there are
                return;
            }
            posted = ring.next(posted);
        }
        card.work().run();
    }

    private PostStatus post(RxeRing ring, int index) throws CallRefusedException {
        @Nullable PostStatus status = null;
        try {
            long at = ring.element(index);
            if (BindElement.isOne(ring.bytes(), at)) {
                status = bind(ring.bytes(), at, index);
            } else if (SendElement.read(ring.bytes(), at, parts.inline, request, index)) {
                if (parts.hasDatagrams()) {
                    address(ring.bytes(), at);
                }
                status = pair.post(request);
            }
        } catch (CallRefusedException | IllegalArgumentException | IllegalStateException | VerbsException e) {
            LOG.log(Level.DEBUG, "what the card cannot do", e);
        }
        return status == null ? postImpossible(index) : status;
    }

    private @Nullable PostStatus bind(MemorySegment ring, long at, int index) {
        BindElement wanted = BindElement.read(ring, at);
        CardWindow window = card.windows().apply(wanted.window());
        int flags = SendElement.isFenced(ring, at) ? SendFlags.FENCE : SendFlags.NONE;
        return window != null && window.bind(wanted, request, index, flags) ? pair.post(request) : null;
    }

    private void address(MemorySegment ring, long at) throws CallRefusedException {
        int handle = SendElement.handle(ring, at);
        int to = SendElement.pair(ring, at);
        CardAddress host = handle != 0
                ? parts.destinations.numbered(handle)
                : parts.destinations.of(SendElement.gid(ring, at), SendElement.ownGid(ring, at));
        var _ = request.to(host.towards(to), to, SendElement.queueKey(ring, at));
    }

    private PostStatus postImpossible(int index) throws CallRefusedException {
        impossible = index;
        request.send(index, SendFlags.NONE).add(NOWHERE, 1, 0);
        if (parts.hasDatagrams()) {
            var _ = request.to(nowhere(), 0, 0);
        }
        return pair.post(request);
    }

    /** A handle for datagrams that are not sent. */
    private AddressHandle nowhere() throws CallRefusedException {
        InetSocketAddress own = pair.address().host();
        CardAddress made = toSelf;
        if (made == null) {
            made = new CardAddress(device, parts.domain, own.getAddress(), own.getAddress());
            toSelf = made;
        }
        return made.towards(pair.number());
    }

    /** A request is complete: the oldest one. */
    private void sent(WorkCompletion completion) {
        RxeRing ring = parts.sends;
        long at = ring.element(completed);
        long number = SendElement.number(ring.bytes(), at);
        int operation = SendElement.completed(ring.bytes(), at);
        boolean wanted = parts.allSignalled || SendElement.isSignalled(ring.bytes(), at);
        CompletionStatus status = completion.status();
        if (status == CompletionStatus.LOCAL_PROTECTION_ERROR && completed == impossible) {
            status = operation == SendElement.COMPLETED_BIND
                    ? CompletionStatus.MEMORY_WINDOW_BIND_ERROR
                    : CompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR;
        }
        if (operation == SendElement.COMPLETED_BIND) {
            bound(BindElement.read(ring.bytes(), at).key(), completion.isSuccess());
        }
        int bytes = SendElement.total(ring.bytes(), at);
        completed = ring.next(completed);
        ring.consumed(completed);
        if (wanted || status != CompletionStatus.SUCCESS) {
            CompletionStatus told = told(completion, status, parts.sendCompletions);
            if (told != null) {
                parts.sendCompletions.add(
                        number,
                        told.code(),
                        operation,
                        completion.isSuccess() ? 0 : completion.vendorCode(),
                        bytes,
                        pair.number());
            }
        }
    }

    /** The status that the program is told, unless a fault keeps the completion from it. */
    private @Nullable CompletionStatus told(
            WorkCompletion completion, CompletionStatus status, CompletionRing completions) {
        if (failed || status != CompletionStatus.SUCCESS) {
            return failed ? CompletionStatus.FLUSHED : status;
        }
        return switch (card.faults().onCompletion(completion.opcode())) {
            case null -> CompletionStatus.SUCCESS;
            case What.Lose() -> null;
            case What.Overrun() -> {
                completions.overrun();
                yield null;
            }
            case What.Delay(long ns) -> {
                completions.hold();
                card.faults().schedule(ns, completions::release);
                yield CompletionStatus.SUCCESS;
            }
            case What.Fail(CompletionStatus failure) -> {
                failed = true;
                card.faults().schedule(0, this::failNow);
                yield failure;
            }
        };
    }

    /** Outside of a completion, in which the RNIC's queue pair cannot change its state. */
    private void failNow() {
        if (failed) {
            pair.disconnect();
        }
    }

    private void bound(int key, boolean success) {
        CardWindow window = card.windows().apply(key);
        if (window != null) {
            window.bound(key, success);
        }
    }

    // ---- RECVs

    private void supply() {
        RxeRing ring = parts.receives;
        if (ring == null || received == ring.producer() || isFlushed(ring) || isWithheld()) {
            return;
        }
        ReceiveElement.read(ring.bytes(), ring.element(received), parts.receivePieces, receive);
        if (pair.post(receive) == PostStatus.ACCEPTED) {
            received = ring.next(received);
            ring.consumed(received);
        }
    }

    /**
     * Flushes what a program has posted since the queue pair went to ERROR: no message asks for it, and nobody rings a doorbell for a
     * RECV.
     *
     * @return false if it is not in ERROR, or its RECVs are shared
     */
    boolean flushReceives() {
        boolean mayHaveSome = parts.receives != null && pair.state() == QueuePairState.ERROR;
        if (mayHaveSome) {
            flushes = 0;
            supply();
        }
        return mayHaveSome;
    }

    private boolean isFlushed(RxeRing ring) {
        return pair.state() == QueuePairState.ERROR && flushes++ >= ring.capacity();
    }

    /** A fault lets the card find no RECVs; what is flushed is found. */
    private boolean isWithheld() {
        return card.faults().withholdsReceives() && pair.state() != QueuePairState.ERROR;
    }

    private void taken(WorkCompletion completion, boolean solicited) {
        CompletionStatus told = told(completion, completion.status(), parts.receiveCompletions);
        if (told == CompletionStatus.SUCCESS) {
            parts.receiveCompletions.addReceive(completion, pair.number(), solicited);
        } else if (told != null) {
            int vendorCode = completion.isSuccess() ? 0 : completion.vendorCode();
            parts.receiveCompletions.add(
                    completion.wrId(), told.code(), CompletionElement.RECEIVE, vendorCode, 0, pair.number());
        }
    }
}
