package org.softrdma.run.uverbs;

import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.softrdma.run.card.Card;
import org.softrdma.run.card.EventWriter;
import org.softrdma.run.device.RxeDevice;
import org.softrdma.run.files.DeviceFile;
import org.softrdma.run.files.FreeNumber;
import org.softrdma.run.files.OurFiles;
import org.softrdma.run.filter.DescriptorRange;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.ErrorNumber;
import org.softrdma.run.kernel.Notification;
import org.softrdma.run.kernel.ProgramKernel;
import org.softrdma.run.rxe.RingMemory;

/**
 * {@code /dev/infiniband/uverbs0}. What a program opens becomes a context of its own with its first command, GET_CONTEXT; until then
 * nothing of it is here. It lives as long as somebody has the reading end of its pipe of asynchronous events, which libibverbs closes with
 * the context, and the kernel with the process.
 */
public final class UverbsDevice implements DeviceFile {
    /** Where a program finds it. */
    public static final String PATH = "/dev/infiniband/uverbs0";

    private static final System.Logger LOG = System.getLogger(UverbsDevice.class.getName());
    /**
     * Bytes of the heap that must be free when a command begins, if it changes something: it cannot be tried again once it is under way,
     * and a program that is refused a state of its queue pair leaves a peer that waits for good.
     */
    private static final int ROOM = 1 << 16;

    private static final int GET_CONTEXT_LENGTH = 8;
    private static final int PORT_OFFSET = 8;
    private static final int ONLY_PORT = 1;
    /** As verbs number asynchronous events. */
    private static final int PORT_ACTIVE = 9;

    private static final int PORT_ERROR = 10;
    private static final int COMPLETION_VECTORS = 1;
    /** {@code struct ib_uverbs_cmd_hdr} and {@code struct ib_uverbs_post_send}. */
    private static final int DOORBELL_LENGTH = 32;

    private static final int DOORBELL_PAIR_OFFSET = 16;

    private final ProgramKernel kernel;
    private final DescriptorRange range;
    private final RxeDevice device;
    private final WriteCommand command;
    private final ObjectCommands objects;
    private final Map<Integer, VerbsContext> contexts = new HashMap<>();

    private final Card card;
    private final EventWriter events;
    private final ProcessEnds ends;
    private final MemorySegment doorbell;
    private final MemorySegment link;
    private int lastSerial;
    private boolean changes;

    /** The file of a device. */
    public UverbsDevice(
            ProgramKernel kernel, DescriptorRange range, RxeDevice device, Card card, EventWriter events, Arena arena) {
        this.kernel = kernel;
        this.range = range;
        this.device = device;
        ends = new ProcessEnds(kernel, range);
        command = new WriteCommand(kernel, arena);
        this.card = card;
        this.events = events;
        card.faults().whenPortChanges(this::tellPort);
        doorbell = arena.allocate(DOORBELL_LENGTH, Long.BYTES);
        link = arena.allocate(OurFiles.LINK_LENGTH);
        objects = new ObjectCommands(kernel, command, card, events, device);
    }

    @Override
    public void open(Notification call, boolean closeOnExec, boolean nonBlocking) throws CallRefusedException {
        forgetContexts();
        ends.add(call);
        int serial = lastSerial + 1;
        int file = kernel.createFile(OurFiles.name(PATH, serial), new byte[0]);
        if (file < 0) {
            throw new CallRefusedException(-file);
        }
        try {
            int number = FreeNumber.in(kernel, call.thread(), range);
            int given = kernel.give(call.id(), file, number, closeOnExec, true);
            if (given < 0) {
                throw new CallRefusedException(-given);
            }
            lastSerial = serial;
        } finally {
            kernel.close(file);
        }
    }

    /** How many contexts programs have. */
    public int contexts() {
        forgetContexts();
        return contexts.size();
    }

    /** Ends contexts that nobody has any more. */
    public void forgetContexts() {
        ends.forget();
        contexts.values().removeIf(context -> {
            boolean abandoned = context.isAbandoned();
            if (abandoned) { // without memory to close it, it is looked at again
                close(context);
            }
            return abandoned;
        });
        card.forgetProcesses(contexts.values().stream()
                .flatMap(context -> context.objects(VerbsObject.Region.class))
                .map(VerbsObject.Region::process)
                .collect(Collectors.toSet()));
    }

    /** Answers the ioctl of uverbs. */
    public void answer(Notification call) throws CallRefusedException {
        changes = false;
        int serial = serialOf(call);
        if (serial < 1 || serial > lastSerial) {
            kernel.pass(call.id());
            return;
        }
        VerbsContext context = contexts.get(serial);
        command.read(call);
        UverbsCommand which = UverbsCommand.of(command.number());
        if (which == null) {
            throw new CallRefusedException(ErrorNumber.EOPNOTSUPP);
        }
        if ((which == UverbsCommand.GET_CONTEXT) != (context == null)) {
            throw new CallRefusedException(ErrorNumber.EINVAL); // it comes first, and once
        }
        if (which != UverbsCommand.REQ_NOTIFY_CQ) {
            requireRoom();
            changes = true;
        }
        card.faults().onVerb(which.verb());
        switch (which) {
            case GET_CONTEXT -> getContext(call, serial);
            case QUERY_DEVICE -> queryDevice(call);
            case QUERY_PORT -> queryPort(call);
            default -> objects.answer(which, call, context);
        }
    }

    /** Finds room in the heap, and gives it back; without it this throws. */
    private static void requireRoom() {
        byte[] room = new byte[ROOM];
        try {
            room[0] = 1;
        } finally {
            Reference.reachabilityFence(room);
        }
    }

    /** Whether a command that has failed amid its answer may have changed something, so that it cannot be answered again. */
    public boolean changes() {
        return changes;
    }

    private int serialOf(Notification call) {
        return OurFiles.serialOf(kernel, call.thread(), (int) call.argument(0), link);
    }

    /**
     * Answers a doorbell: write(2) of the command POST_SEND.
     *
     * @return false if the descriptor is none of a context
     */
    public boolean ring(Notification call) throws CallRefusedException {
        VerbsContext context = contexts.get(serialOf(call));
        if (context == null) {
            return false;
        }
        long length = call.argument(2);
        if (length < DOORBELL_LENGTH
                || kernel.read(call.thread(), call.argument(1), doorbell, DOORBELL_LENGTH) != DOORBELL_LENGTH) {
            throw new CallRefusedException(length < DOORBELL_LENGTH ? ErrorNumber.EINVAL : ErrorNumber.EFAULT);
        }
        if (doorbell.get(ValueLayout.JAVA_INT, 0) != UverbsCommand.POST_SEND.number()) {
            throw new CallRefusedException(ErrorNumber.EOPNOTSUPP);
        }
        VerbsObject.Pair pair =
                context.get(doorbell.get(ValueLayout.JAVA_INT, DOORBELL_PAIR_OFFSET), VerbsObject.Pair.class);
        try {
            card.faults().onVerb(UverbsCommand.POST_SEND.verb());
        } catch (CallRefusedException e) {
            pair.card().takeBack();
            throw e;
        }
        pair.card().doorbell();
        kernel.answer(call.id(), length);
        return true;
    }

    /** Tells programs that the port is up, or down. */
    private void tellPort() {
        int event = card.faults().isPortDown() ? PORT_ERROR : PORT_ACTIVE;
        contexts.values().forEach(context -> {
            boolean ignored = events.asynchronous(context.events().writingEnd(), ONLY_PORT, event);
        });
    }

    /** If something of it cannot be closed, its rings stay mapped, because the card may use them. */
    private static void close(VerbsContext context) {
        try {
            context.close();
        } catch (RuntimeException e) {
            LOG.log(Level.ERROR, "a context of a program that has ended is not closed", e);
        }
    }

    /** Ends what programs have left. */
    public void close() {
        contexts.values().forEach(UverbsDevice::close);
        contexts.clear();
    }

    /** {@code struct ib_uverbs_get_context_resp}: descriptor of asynchronous events, number of completion vectors. */
    private void getContext(Notification call, int serial) throws CallRefusedException {
        int file = kernel.open(call.thread(), (int) call.argument(0));
        if (file < 0) {
            throw new CallRefusedException(-file);
        }
        RingMemory rings;
        try {
            rings = new RingMemory(kernel, file);
        } finally {
            kernel.close(file);
        }
        EventPipe pipe;
        try {
            pipe = EventPipe.give(kernel, call.id());
        } catch (CallRefusedException e) {
            rings.close();
            throw e;
        }
        contexts.put(serial, new VerbsContext(kernel, rings, pipe));
        command.set(0, pipe.number());
        command.set(Integer.BYTES, COMPLETION_VECTORS);
        command.answer(call, GET_CONTEXT_LENGTH);
    }

    /** rdma-core asks for no answer to see whether the command is there; Linux then says that there is no room. */
    private void queryDevice(Notification call) throws CallRefusedException {
        if (command.room() == 0) {
            throw new CallRefusedException(ErrorNumber.ENOSPC);
        }
        DeviceAttributesDescriptor.write(command.output(), device, command.room());
        command.answer(
                call,
                command.extended() ? DeviceAttributesDescriptor.EXTENDED_LENGTH : DeviceAttributesDescriptor.LENGTH);
    }

    private void queryPort(Notification call) throws CallRefusedException {
        if (command.inputByte(PORT_OFFSET) != ONLY_PORT) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
        PortAttributesDescriptor.write(command.output(), device, card.faults().isPortDown());
        command.answer(call, PortAttributesDescriptor.LENGTH);
    }
}
