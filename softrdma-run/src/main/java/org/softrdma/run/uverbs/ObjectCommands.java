package org.softrdma.run.uverbs;

import java.lang.foreign.ValueLayout;
import java.util.Optional;
import org.softrdma.run.card.AccessBits;
import org.softrdma.run.card.Card;
import org.softrdma.run.card.CardAddress;
import org.softrdma.run.card.CardWindow;
import org.softrdma.run.card.CompletionRing;
import org.softrdma.run.card.EventWriter;
import org.softrdma.run.card.SharedReceiveRing;
import org.softrdma.run.device.RxeDevice;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.ErrorNumber;
import org.softrdma.run.kernel.Notification;
import org.softrdma.run.kernel.ProgramKernel;
import org.softrdma.run.rxe.CompletionElement;
import org.softrdma.run.rxe.RxeRing;
import org.softrdma.sim.roce.wire.Gid;
import org.softrdma.verbs.MemoryRegion;

/**
 * Commands that make, ask and take away objects. Input and answer are those of {@code rdma/ib_user_verbs.h}: the input of a command that is
 * not extended begins with the address of its answer, 8 bytes.
 */
final class ObjectCommands {
    private static final int MOST_COMPLETIONS = 0x8000 - 1;
    private static final int NO_CHANNEL = -1;
    /** Memory windows of type 1, and of type 2. */
    private static final int SHARED_WINDOW = 1;

    private static final int OWN_WINDOW = 2;
    private static final int PAGE_MASK = 4096 - 1;
    /** Bytes of {@code struct ib_uverbs_comp_event_desc} and of {@code ib_uverbs_async_event_desc}. */
    private static final int COMPLETION_EVENT = 8;

    private static final int ASYNCHRONOUS_EVENT = 16;

    private final ProgramKernel kernel;
    private final WriteCommand command;
    private final Card card;
    private final EventWriter events;
    private final RxeDevice device;
    private final PairCommands pairs;

    ObjectCommands(ProgramKernel kernel, WriteCommand command, Card card, EventWriter events, RxeDevice device) {
        this.kernel = kernel;
        this.command = command;
        this.card = card;
        this.events = events;
        this.device = device;
        pairs = new PairCommands(command, card, events, device);
    }

    /** Answers the command that was read. */
    void answer(UverbsCommand which, Notification call, VerbsContext context) throws CallRefusedException {
        switch (which) {
            case ALLOC_PD -> {
                context.watchedBy(card);
                answerHandle(call, context.add(new VerbsObject.Domain(card.allocateDomain())));
            }
            case DEALLOC_PD -> {
                context.remove(command.inputInt(0), VerbsObject.Domain.class)
                        .card()
                        .close();
                command.answer(call, 0);
            }
            case CREATE_AH -> createAddress(call, context);
            case DESTROY_AH -> {
                context.remove(command.inputInt(0), VerbsObject.Address.class)
                        .card()
                        .close();
                command.answer(call, 0);
            }
            case REG_MR -> register(call, context);
            case REREG_MR -> reregister(call, context);
            case DEREG_MR -> {
                Card.deregister(context.get(command.inputInt(0), VerbsObject.Region.class)
                        .card());
                var _ = context.remove(command.inputInt(0), VerbsObject.Region.class);
                command.answer(call, 0);
            }
            case ALLOC_MW -> allocateWindow(call, context);
            case DEALLOC_MW -> {
                context.remove(command.inputInt(0), VerbsObject.Window.class)
                        .card()
                        .close();
                command.answer(call, 0);
            }
            case CREATE_COMP_CHANNEL -> createChannel(call, context);
            case CREATE_CQ -> createCompletions(call, context);
            case RESIZE_CQ -> resizeCompletions(call, context);
            case DESTROY_CQ -> destroyCompletions(call, context);
            case REQ_NOTIFY_CQ -> notifyCompletions(call, context);
            case CREATE_SRQ -> createShared(call, context);
            case MODIFY_SRQ -> modifyShared(call, context);
            case QUERY_SRQ -> queryShared(call, context);
            case DESTROY_SRQ -> destroyShared(call, context);
            case CREATE_QP -> pairs.create(call, context);
            case QUERY_QP -> pairs.query(call, context);
            case MODIFY_QP -> pairs.modify(call, context);
            case DESTROY_QP -> destroyPair(call, context);
            case ATTACH_MCAST -> {
                context.get(command.inputInt(16), VerbsObject.Pair.class).card().join(group());
                command.answer(call, 0);
            }
            case DETACH_MCAST -> {
                context.get(command.inputInt(16), VerbsObject.Pair.class).card().leave(group());
                command.answer(call, 0);
            }
            case GET_CONTEXT, QUERY_DEVICE, QUERY_PORT, POST_SEND ->
                throw new CallRefusedException(ErrorNumber.EOPNOTSUPP); // of no object, or by write(2)
        }
    }

    private void answerHandle(Notification call, int handle) throws CallRefusedException {
        command.set(0, handle);
        command.answer(call, Integer.BYTES);
    }

    private void destroyCompletions(Notification call, VerbsContext context) throws CallRefusedException {
        VerbsObject.Completions gone =
                context.remove(command.inputInt(WriteCommand.HANDLE_OFFSET), VerbsObject.Completions.class);
        CompletionRing ring = gone.card();
        ring.close();
        int unread = gone.channel().isEmpty()
                ? 0
                : gone.channel().get().pipe().takeBack(kernel, call.thread(), ring.cookie(), COMPLETION_EVENT);
        command.set(0, ring.raised() - unread);
        command.set(4, reported(call, context, ring.cookie(), ring.failures()));
        context.memory().free(ring.ring());
        command.answer(call, 2 * Integer.BYTES);
    }

    private void destroyShared(Notification call, VerbsContext context) throws CallRefusedException {
        SharedReceiveRing gone = context.remove(
                        command.inputInt(WriteCommand.HANDLE_OFFSET), VerbsObject.SharedReceives.class)
                .card();
        gone.close();
        command.set(0, reported(call, context, gone.cookie(), gone.raised()));
        context.memory().free(gone.ring());
        command.answer(call, Integer.BYTES);
    }

    /** Where the commands of groups have it: 0. */
    private Gid group() {
        return new Gid(Long.reverseBytes(command.inputLong(0)), Long.reverseBytes(command.inputLong(Long.BYTES)));
    }

    private void destroyPair(Notification call, VerbsContext context) throws CallRefusedException {
        if (context.get(command.inputInt(WriteCommand.HANDLE_OFFSET), VerbsObject.Pair.class)
                .card()
                .isInGroup()) {
            throw new CallRefusedException(ErrorNumber.EBUSY);
        }
        VerbsObject.Pair gone = context.remove(command.inputInt(WriteCommand.HANDLE_OFFSET), VerbsObject.Pair.class);
        gone.card().close();
        command.set(0, reported(call, context, gone.cookie(), gone.card().raised()));
        context.memory().free(gone.sends());
        gone.receives().ifPresent(context.memory()::free);
        command.answer(call, Integer.BYTES);
    }

    /** Asynchronous events of an object that the program has read. */
    private int reported(Notification call, VerbsContext context, long cookie, int raised) {
        return raised == 0 ? 0 : raised - context.events().takeBack(kernel, call.thread(), cookie, ASYNCHRONOUS_EVENT);
    }

    /** domain 16, path 24: GID (16), index of the own GID 44, is global 53, port 54. The driver is told the number, which is the handle. */
    private void createAddress(Notification call, VerbsContext context) throws CallRefusedException {
        VerbsObject.Domain domain = context.get(command.inputInt(16), VerbsObject.Domain.class);
        if (command.inputByte(53) == 0 || command.inputByte(54) != 1) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
        Gid there = new Gid(Long.reverseBytes(command.inputLong(24)), Long.reverseBytes(command.inputLong(32)));
        CardAddress made = AddressHandles.create(card, device, domain, there, command.inputByte(44));
        int handle = context.add(new VerbsObject.Address(domain, made));
        command.driverOutput().set(ValueLayout.JAVA_INT, 0, handle);
        answerHandle(call, handle);
    }

    /** start 8, length 16, address for requests 24, domain 32, rights 36. */
    private void register(Notification call, VerbsContext context) throws CallRefusedException {
        VerbsObject.Region made = registered(
                context.get(command.inputInt(32), VerbsObject.Domain.class),
                kernel.processOf(call.thread()),
                command.inputLong(8),
                command.inputLong(16),
                command.inputLong(24),
                command.inputInt(36));
        command.set(0, context.add(made));
        command.set(4, made.card().lkey());
        command.set(8, made.card().rkey());
        command.answer(call, 12);
    }

    private VerbsObject.Region registered(
            VerbsObject.Domain domain, int process, long address, long length, long start, int access)
            throws CallRefusedException {
        if (((address ^ start) & PAGE_MASK) != 0) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
        MemoryRegion region =
                card.register(domain.card(), process, address, length, start, AccessBits.ofRegion(access));
        return new VerbsObject.Region(domain, region, process, address, length, start, access);
    }

    /**
     * handle 8, what changes 12 (1 for memory, 2 for the domain, 4 for rights), start 16, length 24, address for requests 32, domain 40,
     * rights 44. It gets other keys, which the program is told.
     */
    private void reregister(Notification call, VerbsContext context) throws CallRefusedException {
        int handle = command.inputInt(8);
        VerbsObject.Region before = context.get(handle, VerbsObject.Region.class);
        int changes = command.inputInt(12);
        if (changes < 1 || changes > 7) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
        boolean memory = (changes & 1) != 0;
        VerbsObject.Region made = registered(
                (changes & 2) == 0 ? before.domain() : context.get(command.inputInt(40), VerbsObject.Domain.class),
                memory ? kernel.processOf(call.thread()) : before.process(),
                memory ? command.inputLong(16) : before.address(),
                memory ? command.inputLong(24) : before.length(),
                memory ? command.inputLong(32) : before.start(),
                (changes & 4) == 0 ? before.access() : command.inputInt(44));
        try {
            Card.deregister(before.card());
        } catch (CallRefusedException e) {
            made.card().close();
            throw e;
        }
        context.replace(handle, made);
        command.set(0, made.card().lkey());
        command.set(4, made.card().rkey());
        command.answer(call, 8);
    }

    /** domain 8, type 12. */
    private void allocateWindow(Notification call, VerbsContext context) throws CallRefusedException {
        VerbsObject.Domain domain = context.get(command.inputInt(8), VerbsObject.Domain.class);
        int type = command.inputByte(12);
        if (type != SHARED_WINDOW && type != OWN_WINDOW) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
        CardWindow made = card.allocateWindow(domain.card(), type == SHARED_WINDOW);
        command.set(0, context.add(new VerbsObject.Window(domain, made)));
        command.set(4, made.key());
        command.answer(call, 8);
    }

    private void createChannel(Notification call, VerbsContext context) throws CallRefusedException {
        context.forgetChannels();
        EventPipe pipe = EventPipe.give(kernel, call.id());
        int ignored = context.add(new VerbsObject.Channel(pipe));
        answerHandle(call, pipe.number());
    }

    /** cookie 0, completions 8, vector 12, channel 16. */
    private void createCompletions(Notification call, VerbsContext context) throws CallRefusedException {
        int at = command.inputOffset();
        int wanted = command.inputInt(at + 8);
        if (wanted < 1 || wanted > MOST_COMPLETIONS || command.inputInt(at + 12) != 0) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
        int number = command.inputInt(at + 16);
        Optional<VerbsObject.Channel> channel =
                number == NO_CHANNEL ? Optional.empty() : Optional.of(context.channel(number));
        CompletionRing ring = new CompletionRing(
                context.memory().create(wanted, CompletionElement.LENGTH),
                command.inputLong(at),
                channel.map(each -> each.pipe().writingEnd()).orElse(NO_CHANNEL),
                context.events().writingEnd(),
                events);
        command.set(0, context.add(new VerbsObject.Completions(ring, channel)));
        command.set(4, ring.ring().capacity());
        command.tell(0, ring.ring());
        command.answerEither(call, 8);
    }

    /** handle 8, completions 12. */
    private void resizeCompletions(Notification call, VerbsContext context) throws CallRefusedException {
        CompletionRing completions =
                context.get(command.inputInt(8), VerbsObject.Completions.class).card();
        int wanted = command.inputInt(12);
        if (wanted < 1 || wanted > MOST_COMPLETIONS || wanted < completions.unread()) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
        RxeRing before = completions.ring();
        RxeRing after = context.memory().create(wanted, CompletionElement.LENGTH);
        completions.moveTo(after);
        context.memory().free(before);
        command.set(0, after.capacity());
        command.tell(0, after);
        command.answer(call, 8);
    }

    private void notifyCompletions(Notification call, VerbsContext context) throws CallRefusedException {
        context.get(command.inputInt(0), VerbsObject.Completions.class).card().arm(command.inputInt(4) != 0);
        command.answer(call, 0);
    }

    /** cookie 8, domain 16, requests 20, pieces 24. */
    private void createShared(Notification call, VerbsContext context) throws CallRefusedException {
        int requests = command.inputInt(20);
        int pieces = command.inputInt(24);
        PairLimits.checkShared(requests, pieces);
        VerbsObject.Domain domain = context.get(command.inputInt(16), VerbsObject.Domain.class);
        RxeRing ring = context.memory().create(requests, PairLimits.receiveLength(pieces));
        SharedReceiveRing shared;
        try {
            shared = new SharedReceiveRing(
                    domain.card(),
                    ring,
                    pieces,
                    command.inputLong(8),
                    context.events().writingEnd(),
                    events,
                    card.faults());
        } catch (CallRefusedException e) {
            context.memory().free(ring);
            throw e;
        }
        int handle = context.add(new VerbsObject.SharedReceives(domain, shared));
        command.set(0, handle);
        command.set(4, ring.capacity());
        command.set(8, pieces);
        command.set(12, handle);
        command.tell(0, ring);
        command.driverOutput().set(ValueLayout.JAVA_INT, 16, handle);
        command.answer(call, 16);
    }

    /**
     * handle 0, mask 4 (1 for the size, 2 for the limit), requests 8, limit 12. The driver says where in the program's memory it wants to
     * know of another ring.
     */
    private void modifyShared(Notification call, VerbsContext context) throws CallRefusedException {
        SharedReceiveRing shared = context.get(command.inputInt(0), VerbsObject.SharedReceives.class)
                .card();
        int mask = command.inputInt(4);
        int limit = command.inputInt(12);
        if ((mask & ~3) != 0
                || ((mask & 2) != 0 && (limit < 0 || limit > shared.ring().capacity()))) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
        if ((mask & 1) != 0) {
            resizeShared(call, context, shared, command.inputInt(8));
        }
        if ((mask & 2) != 0) {
            shared.arm(limit);
        }
        command.answer(call, 0);
    }

    private void resizeShared(Notification call, VerbsContext context, SharedReceiveRing shared, int requests)
            throws CallRefusedException {
        PairLimits.checkShared(requests, shared.pieces());
        if (requests < shared.limit() || requests < shared.unread()) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
        RxeRing before = shared.ring();
        RxeRing after = context.memory().create(requests, PairLimits.receiveLength(shared.pieces()));
        command.tell(0, after);
        try {
            command.writeDriverOutput(call, command.driverInputLong());
        } catch (CallRefusedException e) {
            context.memory().free(after);
            throw e;
        }
        shared.moveTo(after);
        context.memory().free(before);
    }

    private void queryShared(Notification call, VerbsContext context) throws CallRefusedException {
        VerbsObject.SharedReceives shared =
                context.get(command.inputInt(WriteCommand.HANDLE_OFFSET), VerbsObject.SharedReceives.class);
        command.set(0, shared.card().ring().capacity());
        command.set(4, shared.card().pieces());
        command.set(8, shared.card().limit());
        command.answer(call, 16);
    }
}
