package org.softrdma.run.uverbs;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import org.softrdma.run.card.AccessBits;
import org.softrdma.run.card.Card;
import org.softrdma.run.card.CardPair;
import org.softrdma.run.card.EventWriter;
import org.softrdma.run.card.SharedReceiveRing;
import org.softrdma.run.device.GidEntry;
import org.softrdma.run.device.RxeDevice;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.ErrorNumber;
import org.softrdma.run.kernel.Notification;
import org.softrdma.run.rxe.RxeRing;
import org.softrdma.verbs.QueuePairAddress;
import org.softrdma.verbs.QueuePairType;
import org.softrdma.verbs.ReceiveAttributes;
import org.softrdma.verbs.SendAttributes;

/** Commands that make queue pairs, and take them from state to state. */
final class PairCommands {
    private static final int RELIABLE = 2;
    private static final int UNRELIABLE = 3;
    static final int DATAGRAMS = 4;
    private static final int LEAST_UNIT = 128;
    private static final int MOST_UNIT_CODE = 5;
    private static final int PSN_MASK = 0xFF_FFFF;
    private static final int CODE_MASK = 31;
    private static final int TIMES_MASK = 7;
    /** What a queue pair that has its peer may be told anew. */
    private static final int TERMS = StateTransitions.PATH
            | StateTransitions.TIMEOUT
            | StateTransitions.RETRIES
            | StateTransitions.RNR_RETRIES
            | StateTransitions.READS
            | StateTransitions.SERVED_READS
            | StateTransitions.RNR_TIMER;

    private final WriteCommand command;
    private final Card card;
    private final EventWriter events;
    private final RxeDevice device;
    /** What a queue pair has if a command is granted: it keeps what it has if one is refused. */
    private final PairAttributes wanted = new PairAttributes();

    PairCommands(WriteCommand command, Card card, EventWriter events, RxeDevice device) {
        this.command = command;
        this.card = card;
        this.events = events;
        this.device = device;
    }

    /** cookie 0, domain 8, queues of completions 12 and 16, shared queue 20, five limits 24, all signalled 44, type 45, is shared 46. */
    void create(Notification call, VerbsContext context) throws CallRefusedException {
        int at = command.inputOffset();
        int[] capacity = new int[PairLimits.COUNT];
        for (int i = 0; i < capacity.length; i++) {
            capacity[i] = command.inputInt(at + 24 + i * Integer.BYTES);
        }
        int type = command.inputByte(at + 45);
        PairLimits.check(type, capacity);
        VerbsObject.Domain domain = context.get(command.inputInt(at + 8), VerbsObject.Domain.class);
        VerbsObject.Completions sends = context.get(command.inputInt(at + 12), VerbsObject.Completions.class);
        VerbsObject.Completions receives = context.get(command.inputInt(at + 16), VerbsObject.Completions.class);
        Optional<VerbsObject.SharedReceives> shared = command.inputByte(at + 46) == 0
                ? Optional.empty()
                : Optional.of(context.get(command.inputInt(at + 20), VerbsObject.SharedReceives.class));
        boolean allSignalled = command.inputByte(at + 44) != 0;
        RxeRing sendRing = context.memory().create(Math.max(1, capacity[0]), PairLimits.sendLength(capacity));
        Optional<RxeRing> receiveRing = Optional.empty();
        capacity[4] = PairLimits.inlineLength(capacity);
        capacity[2] = PairLimits.pieces(capacity[4]);
        CardPair made;
        try {
            if (shared.isEmpty()) {
                receiveRing = Optional.of(
                        context.memory().create(Math.max(1, capacity[1]), PairLimits.receiveLength(capacity[3])));
            }
            made = card.createPair(new CardPair.Parts(
                    command.inputLong(at),
                    context.events().writingEnd(),
                    events,
                    domain.card(),
                    type(type),
                    capacity[2],
                    capacity[3],
                    capacity[4],
                    allSignalled,
                    sendRing,
                    receiveRing.orElse(null),
                    sharedRing(shared),
                    sends.card(),
                    receives.card(),
                    new AddressHandles(card, device, context, domain)));
        } catch (CallRefusedException e) {
            context.memory().free(sendRing);
            receiveRing.ifPresent(context.memory()::free);
            throw e;
        }
        VerbsObject.Pair pair = new VerbsObject.Pair(
                made,
                command.inputLong(at),
                type,
                allSignalled,
                domain,
                sends,
                receives,
                shared,
                inRings(capacity, sendRing, receiveRing),
                sendRing,
                receiveRing,
                new PairAttributes());
        command.set(0, context.add(pair));
        command.set(4, made.number());
        for (int i = 0; i < capacity.length; i++) {
            command.set(8 + i * Integer.BYTES, capacity[i]);
        }
        receiveRing.ifPresent(ring -> command.tell(0, ring));
        command.tell(16, sendRing);
        command.answerEither(call, 32);
    }

    /** What there is room for: more than what was asked for, which the answer to the creation repeats, as SoftRoCE does. */
    private static List<Integer> inRings(int[] capacity, RxeRing sends, Optional<RxeRing> receives) {
        return List.of(
                sends.capacity(),
                receives.map(RxeRing::capacity).orElse(0),
                capacity[2],
                receives.isEmpty() ? 0 : capacity[3],
                capacity[4]);
    }

    private static @Nullable SharedReceiveRing sharedRing(Optional<VerbsObject.SharedReceives> shared) {
        return shared.map(VerbsObject.SharedReceives::card).orElse(null);
    }

    private static QueuePairType type(int type) {
        return switch (type) {
            case RELIABLE -> QueuePairType.RELIABLE_CONNECTION;
            case UNRELIABLE -> QueuePairType.UNRELIABLE_CONNECTION;
            default -> QueuePairType.UNRELIABLE_DATAGRAM;
        };
    }

    void query(Notification call, VerbsContext context) throws CallRefusedException {
        VerbsObject.Pair pair = context.get(command.inputInt(WriteCommand.HANDLE_OFFSET), VerbsObject.Pair.class);
        pair.attributes()
                .write(
                        command.output(),
                        pair.capacity(),
                        state(pair),
                        pair.card().isDraining(),
                        pair.allSignalled());
        command.answer(call, PairAttributes.ANSWER_LENGTH);
    }

    /** As verbs number it. The card has no closed queue pair with a handle. */
    private static int state(VerbsObject.Pair pair) {
        return switch (pair.card().state()) {
            case RESET -> StateTransitions.RESET;
            case INITIAL -> StateTransitions.INIT;
            case READY_TO_RECEIVE -> StateTransitions.RTR;
            case READY_TO_SEND -> StateTransitions.RTS;
            case SEND_QUEUE_DRAIN -> StateTransitions.SQD;
            case SEND_QUEUE_ERROR -> StateTransitions.SQE;
            case ERROR, CLOSED -> StateTransitions.ERR;
        };
    }

    void modify(Notification call, VerbsContext context) throws CallRefusedException {
        VerbsObject.Pair pair = context.get(command.inputInt(PairAttributes.HANDLE_OFFSET), VerbsObject.Pair.class);
        int mask = PairAttributes.mask(command.input());
        int now = state(pair);
        int from = (mask & StateTransitions.CURRENT_STATE) == 0 ? now : PairAttributes.currentState(command.input());
        int to = (mask & StateTransitions.STATE) == 0 ? from : PairAttributes.state(command.input());
        boolean drains = (mask & StateTransitions.STATE) != 0
                && to != StateTransitions.ERR
                && pair.card().isDraining();
        if (from != now || drains) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
        StateTransitions.check(pair.type(), from, to, mask);
        wanted.become(pair.attributes());
        wanted.set(command.input());
        check(pair.card(), mask, from);
        move(pair, mask, from, to);
        if ((mask & StateTransitions.QUEUE_KEY) != 0) {
            pair.card().useQueueKey(wanted.queueKey());
        }
        pair.attributes().become(wanted);
        if (command.extended()) {
            command.set(4, 8);
        }
        command.answer(call, command.extended() ? 8 : 0);
    }

    /** As SoftRoCE looks at attributes before it takes one of them. */
    private void check(CardPair pair, int mask, int from) throws CallRefusedException {
        boolean good = ((mask & StateTransitions.PORT) == 0 || wanted.port() == 1)
                && ((mask & StateTransitions.TIMEOUT) == 0 || wanted.timeout() <= CODE_MASK)
                && ((mask & StateTransitions.READS) == 0 || wanted.reads() <= DeviceAttributesDescriptor.MOST_READS)
                && ((mask & StateTransitions.TRANSFER_UNIT) == 0 || isUnit(wanted.transferUnitCode()))
                && ((mask & StateTransitions.PATH) == 0 || isPath(pair, from));
        if (!good) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
    }

    private static boolean isUnit(int code) {
        return code >= 1 && code <= MOST_UNIT_CODE;
    }

    /** A queue pair that has its peer stays at its own address. */
    private boolean isPath(CardPair pair, int from) {
        if (!wanted.isGlobal() || wanted.ownGid() >= device.gids().size()) {
            return false;
        }
        InetAddress own = own().address();
        return own.getClass().equals(wanted.peerGid().address().getClass())
                && (from != StateTransitions.SQD || own.equals(pair.local()));
    }

    private GidEntry own() {
        return device.gids().get(wanted.ownGid());
    }

    private void move(VerbsObject.Pair moved, int mask, int from, int to) throws CallRefusedException {
        CardPair pair = moved.card();
        switch (to) {
            case StateTransitions.RESET -> {
                pair.reset();
                wanted.clear();
            }
            case StateTransitions.INIT -> {
                if (from == StateTransitions.RESET) {
                    pair.initialise(AccessBits.ofPeer(wanted.access()));
                } else {
                    permit(pair, mask);
                }
            }
            case StateTransitions.RTR -> {
                if (moved.type() == DATAGRAMS) {
                    pair.receiveDatagrams();
                } else {
                    pair.useAddress(own().address());
                    permit(pair, mask);
                    pair.readyToReceive(receives());
                }
            }
            case StateTransitions.RTS -> {
                if (from == StateTransitions.RTR && moved.type() == DATAGRAMS) {
                    pair.sendDatagrams();
                } else if (from == StateTransitions.RTR) {
                    pair.readyToSend(sends().withSequence(wanted.sendPsn() & PSN_MASK));
                } else if (from == StateTransitions.SQD || from == StateTransitions.SQE) {
                    pair.resume();
                }
                change(pair, mask, from);
            }
            case StateTransitions.SQD -> {
                if (from == StateTransitions.RTS) {
                    pair.drain();
                }
                change(pair, mask, from);
            }
            default -> pair.fail();
        }
    }

    /** What changes without another state: at once, as SoftRoCE does it. */
    private void change(CardPair pair, int mask, int from) throws CallRefusedException {
        if ((mask & (from == StateTransitions.RTR ? StateTransitions.RNR_TIMER : TERMS)) != 0) {
            pair.change(receives(), sends());
        }
        permit(pair, mask);
    }

    private void permit(CardPair pair, int mask) throws CallRefusedException {
        if ((mask & StateTransitions.ACCESS) != 0) {
            pair.permit(AccessBits.ofPeer(wanted.access()));
        }
    }

    private ReceiveAttributes receives() {
        int number = wanted.peer() & PSN_MASK;
        QueuePairAddress peer = new QueuePairAddress(
                new InetSocketAddress(wanted.peerGid().address(), card.peers().of(wanted.peerGid(), number)),
                number,
                wanted.receivePsn() & PSN_MASK,
                LEAST_UNIT << wanted.transferUnitCode());
        return new ReceiveAttributes(peer, wanted.servedReads(), OptionalInt.of(wanted.rnrTimer() & CODE_MASK));
    }

    private SendAttributes sends() {
        return SendAttributes.ofReads(wanted.reads())
                .withTimeout(wanted.timeout(), wanted.retries() & TIMES_MASK)
                .withReceiverNotReadyRetries(wanted.rnrRetries() & TIMES_MASK);
    }
}
