package org.softrdma.run.card;

import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.ErrorNumber;
import org.softrdma.run.rxe.ReceiveElement;
import org.softrdma.run.rxe.RxeRing;
import org.softrdma.run.rxe.SendElement;
import org.softrdma.sim.device.SoftRdmaDevice;
import org.softrdma.sim.queue.SoftCompletionQueue;
import org.softrdma.verbs.AccessFlag;
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

    private final Surroundings card;
    private final SoftRdmaDevice device;
    private final Parts parts;
    private final CompletionQueue sent;
    private final CompletionQueue taken;
    private final UnconnectedQueuePair pair;
    private int raised;

    private final SendWorkRequest request = new SendWorkRequest();
    private int posted;

    /** Place of a request that cannot be done. */
    private int impossible = NONE;

    private final ReceiveWorkRequest receive = new ReceiveWorkRequest();
    private int completed;
    private int received;
    /** RECVs that are flushed at most: a program that posts for ever must not keep the card. */
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
            CompletionRing receiveCompletions) {}

    /**
     * What a queue pair asks of its card.
     *
     * @param work what was posted goes on its way
     * @param closed it is gone
     */
    record Surroundings(Runnable work, Consumer<QueuePair> closed) {}

    /** A queue pair in RESET. */
    CardPair(Surroundings card, SoftRdmaDevice device, Parts parts) throws CallRefusedException {
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
        return pair.state();
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
        CardErrors.of(() -> pair.initialise(rights));
    }

    /** Changes what the peer may do. */
    public void permit(Set<AccessFlag> rights) throws CallRefusedException {
        CardErrors.of(() -> pair.permit(rights));
    }

    /**
     * INIT to RTR.
     *
     * @param local address of this host
     */
    public void readyToReceive(InetAddress local, ReceiveAttributes attributes) throws CallRefusedException {
        if (!pair.address().host().getAddress().equals(local)) {
            int port = pair.address().host().getPort();
            CardErrors.of(() -> device.useAddress(pair, local));
            if (pair.address().host().getPort() != port) {
                throw new CallRefusedException(ErrorNumber.EADDRNOTAVAIL); // peers would look for it at that port
            }
        }
        CardErrors.of(() -> pair.readyToReceive(attributes));
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
        posted = parts.sends.producer();
        completed = posted;
        parts.sends.consumed(posted);
        impossible = NONE;
        flushes = 0;
        RxeRing receives = parts.receives;
        if (receives != null) {
            received = receives.producer();
            receives.consumed(received);
        }
    }

    /** Takes it away. */
    public void close() {
        pair.close();
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
        switch (pair.state()) {
            case RESET, INITIAL, READY_TO_RECEIVE, CLOSED -> throw new CallRefusedException(ErrorNumber.EINVAL);
            case READY_TO_SEND, SEND_QUEUE_DRAIN, SEND_QUEUE_ERROR, ERROR -> postAll();
        }
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

    private PostStatus post(RxeRing ring, int index) {
        @Nullable PostStatus status = null;
        try {
            if (SendElement.read(ring.bytes(), ring.element(index), parts.inline, request, index)) {
                status = pair.post(request);
            }
        } catch (IllegalArgumentException | IllegalStateException | VerbsException e) {
            LOG.log(Level.DEBUG, "what the card cannot do", e);
        }
        return status == null ? postImpossible(index) : status;
    }

    private PostStatus postImpossible(int index) {
        impossible = index;
        return pair.post(request.send(index, SendFlags.NONE).add(NOWHERE, 1, 0));
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
            status = CompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR;
        }
        int bytes = SendElement.total(ring.bytes(), at);
        completed = ring.next(completed);
        ring.consumed(completed);
        if (wanted || status != CompletionStatus.SUCCESS) {
            parts.sendCompletions.add(
                    number,
                    status.code(),
                    operation,
                    completion.isSuccess() ? 0 : completion.vendorCode(),
                    bytes,
                    pair.number());
        }
    }

    // ---- RECVs

    private void supply() {
        RxeRing ring = parts.receives;
        if (ring == null || received == ring.producer() || isFlushed(ring)) {
            return;
        }
        ReceiveElement.read(ring.bytes(), ring.element(received), parts.receivePieces, receive);
        if (pair.post(receive) == PostStatus.ACCEPTED) {
            received = ring.next(received);
            ring.consumed(received);
        }
    }

    private boolean isFlushed(RxeRing ring) {
        return pair.state() == QueuePairState.ERROR && flushes++ >= ring.capacity();
    }

    private void taken(WorkCompletion completion, boolean solicited) {
        parts.receiveCompletions.addReceive(completion, pair.number(), solicited);
    }
}
