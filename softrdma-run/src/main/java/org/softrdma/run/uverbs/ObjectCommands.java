package org.softrdma.run.uverbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Optional;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.ErrorNumber;
import org.softrdma.run.kernel.Notification;
import org.softrdma.run.kernel.ProgramKernel;
import org.softrdma.run.rxe.RxeRing;

/**
 * Commands that make, ask and take away objects. Input and answer are those of {@code rdma/ib_user_verbs.h}: the input of a command that is
 * not extended begins with the address of its answer, 8 bytes.
 */
final class ObjectCommands {
    private static final int ALLOC_PD = 3;
    private static final int DEALLOC_PD = 4;
    private static final int REG_MR = 9;
    private static final int DEREG_MR = 13;
    private static final int CREATE_COMP_CHANNEL = 17;
    private static final int CREATE_CQ = 18;
    private static final int DESTROY_CQ = 20;
    private static final int REQ_NOTIFY_CQ = 23;
    private static final int CREATE_QP = 24;
    private static final int QUERY_QP = 25;
    private static final int MODIFY_QP = 26;
    private static final int DESTROY_QP = 27;
    private static final int CREATE_SRQ = 32;
    private static final int DESTROY_SRQ = 35;

    /** Bytes that only a command that is not extended has in front. */
    private static final int ANSWER_ADDRESS = 8;

    private static final int HANDLE_OFFSET = 8;
    private static final int COMPLETION_LENGTH = 48;
    private static final int MOST_COMPLETIONS = 0x8000 - 1;

    private final ProgramKernel kernel;
    private final WriteCommand command;
    private final ObjectNumbers numbers = new ObjectNumbers();

    ObjectCommands(ProgramKernel kernel, WriteCommand command) {
        this.kernel = kernel;
        this.command = command;
    }

    /** Answers the command that was read. */
    void answer(Notification call, VerbsContext context) throws CallRefusedException {
        switch (command.number()) {
            case ALLOC_PD -> answerHandle(call, context.add(new VerbsObject.Domain()));
            case DEALLOC_PD -> remove(call, context, 0, VerbsObject.Domain.class, 0);
            case REG_MR -> register(call, context);
            case DEREG_MR -> remove(call, context, 0, VerbsObject.Region.class, 0);
            case CREATE_COMP_CHANNEL -> createChannel(call, context);
            case CREATE_CQ -> createCompletions(call, context);
            case DESTROY_CQ -> remove(call, context, HANDLE_OFFSET, VerbsObject.Completions.class, 2 * Integer.BYTES);
            case REQ_NOTIFY_CQ -> notifyCompletions(call, context);
            case CREATE_SRQ -> createShared(call, context);
            case DESTROY_SRQ -> remove(call, context, HANDLE_OFFSET, VerbsObject.SharedReceives.class, Integer.BYTES);
            case CREATE_QP -> createPair(call, context);
            case QUERY_QP -> queryPair(call, context);
            case MODIFY_QP -> modifyPair(call, context);
            case DESTROY_QP -> remove(call, context, HANDLE_OFFSET, VerbsObject.Pair.class, Integer.BYTES);
            default -> throw new CallRefusedException(ErrorNumber.EOPNOTSUPP);
        }
    }

    private void answerHandle(Notification call, int handle) throws CallRefusedException {
        command.set(0, handle);
        command.answer(call, Integer.BYTES);
    }

    /** The answer counts events that were reported; none are yet. */
    private <T extends VerbsObject> void remove(
            Notification call, VerbsContext context, int handleOffset, Class<T> type, int answerLength)
            throws CallRefusedException {
        switch (context.remove(command.inputInt(handleOffset), type)) {
            case VerbsObject.Completions queue -> context.memory().free(queue.ring());
            case VerbsObject.SharedReceives queue -> context.memory().free(queue.ring());
            case VerbsObject.Pair pair -> {
                context.memory().free(pair.sends());
                pair.receives().ifPresent(context.memory()::free);
            }
            default -> {}
        }
        command.answer(call, answerLength);
    }

    private void register(Notification call, VerbsContext context) throws CallRefusedException {
        VerbsObject.Domain domain = context.get(command.inputInt(32), VerbsObject.Domain.class);
        VerbsObject.Region region = new VerbsObject.Region(
                domain,
                command.inputLong(8),
                command.inputLong(16),
                command.inputLong(24),
                command.inputInt(36),
                numbers.key());
        command.set(0, context.add(region));
        command.set(4, region.key());
        command.set(8, region.key());
        command.answer(call, 12);
    }

    private void createChannel(Notification call, VerbsContext context) throws CallRefusedException {
        EventPipe pipe = EventPipe.give(kernel, call.id());
        context.add(new VerbsObject.Channel(pipe.writingEnd()));
        answerHandle(call, pipe.number());
    }

    /** cookie 0, completions 8, vector 12, channel 16. */
    private void createCompletions(Notification call, VerbsContext context) throws CallRefusedException {
        int at = inputOffset();
        int wanted = command.inputInt(at + 8);
        if (wanted < 1 || wanted > MOST_COMPLETIONS || command.inputInt(at + 12) != 0) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
        RxeRing ring = context.memory().create(wanted, COMPLETION_LENGTH);
        command.set(0, context.add(new VerbsObject.Completions(command.inputLong(at), ring)));
        command.set(4, ring.capacity());
        tell(0, ring);
        answer(call, 8);
    }

    private void notifyCompletions(Notification call, VerbsContext context) throws CallRefusedException {
        VerbsObject ignored = context.get(command.inputInt(0), VerbsObject.Completions.class);
        command.answer(call, 0);
    }

    /** cookie 8, domain 16, requests 20, pieces 24. */
    private void createShared(Notification call, VerbsContext context) throws CallRefusedException {
        int pieces = command.inputInt(24);
        PairLimits.checkShared(command.inputInt(20), pieces);
        VerbsObject.Domain domain = context.get(command.inputInt(16), VerbsObject.Domain.class);
        RxeRing ring = context.memory().create(command.inputInt(20), PairLimits.receiveLength(pieces));
        int handle = context.add(new VerbsObject.SharedReceives(command.inputLong(8), domain, ring));
        command.set(0, handle);
        command.set(4, ring.capacity());
        command.set(8, pieces);
        command.set(12, handle);
        tell(0, ring);
        command.driverOutput().set(ValueLayout.JAVA_INT, 16, handle);
        command.answer(call, 16);
    }

    /** cookie 0, domain 8, queues of completions 12 and 16, shared queue 20, five limits 24, all signalled 44, type 45, is shared 46. */
    private void createPair(Notification call, VerbsContext context) throws CallRefusedException {
        int at = inputOffset();
        int[] capacity = new int[PairLimits.COUNT];
        for (int i = 0; i < capacity.length; i++) {
            capacity[i] = command.inputInt(at + 24 + i * Integer.BYTES);
        }
        PairLimits.check(command.inputByte(at + 45), capacity);
        VerbsObject.Domain domain = context.get(command.inputInt(at + 8), VerbsObject.Domain.class);
        VerbsObject.Completions sends = context.get(command.inputInt(at + 12), VerbsObject.Completions.class);
        VerbsObject.Completions receives = context.get(command.inputInt(at + 16), VerbsObject.Completions.class);
        Optional<VerbsObject.SharedReceives> shared = command.inputByte(at + 46) == 0
                ? Optional.empty()
                : Optional.of(context.get(command.inputInt(at + 20), VerbsObject.SharedReceives.class));
        RxeRing sendRing = context.memory().create(Math.max(1, capacity[0]), PairLimits.sendLength(capacity));
        Optional<RxeRing> receiveRing = shared.isPresent()
                ? Optional.empty()
                : Optional.of(context.memory().create(Math.max(1, capacity[1]), PairLimits.receiveLength(capacity[3])));
        capacity[4] = PairLimits.inlineLength(capacity);
        VerbsObject.Pair pair = new VerbsObject.Pair(
                numbers.pair(),
                command.inputByte(at + 45),
                command.inputByte(at + 44) != 0,
                domain,
                sends,
                receives,
                shared,
                Arrays.stream(capacity).boxed().toList(),
                sendRing,
                receiveRing,
                Arena.ofAuto().allocate(PairAttributes.LENGTH, Long.BYTES));
        command.set(0, context.add(pair));
        command.set(4, pair.number());
        for (int i = 0; i < capacity.length; i++) {
            command.set(8 + i * Integer.BYTES, capacity[i]);
        }
        receiveRing.ifPresent(ring -> tell(0, ring));
        tell(16, sendRing);
        answer(call, 32);
    }

    private void queryPair(Notification call, VerbsContext context) throws CallRefusedException {
        VerbsObject.Pair pair = context.get(command.inputInt(HANDLE_OFFSET), VerbsObject.Pair.class);
        PairAttributes.write(pair, command.output());
        command.answer(call, PairAttributes.ANSWER_LENGTH);
    }

    private void modifyPair(Notification call, VerbsContext context) throws CallRefusedException {
        VerbsObject.Pair pair = context.get(command.inputInt(PairAttributes.HANDLE_OFFSET), VerbsObject.Pair.class);
        PairAttributes.modify(pair, command.input());
        if (command.extended()) {
            command.set(4, 8);
        }
        command.answer(call, command.extended() ? 8 : 0);
    }

    /** Where the input begins that both forms of a command have. */
    private int inputOffset() {
        return command.extended() ? 0 : ANSWER_ADDRESS;
    }

    /** An extended answer is longer: what it has, and its length. */
    private void answer(Notification call, int length) throws CallRefusedException {
        if (!command.extended()) {
            command.answer(call, length);
            return;
        }
        int whole = length + 2 * Integer.BYTES;
        command.set(length + Integer.BYTES, whole);
        command.answer(call, whole);
    }

    /** {@code struct mminfo}: offset (8), length (4), nothing (4). */
    private void tell(int offset, RxeRing ring) {
        MemorySegment to = command.driverOutput();
        to.set(ValueLayout.JAVA_LONG, offset, ring.offset());
        to.set(ValueLayout.JAVA_INT, offset + (long) Long.BYTES, (int)
                ring.bytes().byteSize());
    }
}
