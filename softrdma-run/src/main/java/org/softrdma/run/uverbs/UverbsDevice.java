package org.softrdma.run.uverbs;

import java.lang.foreign.Arena;
import java.util.HashMap;
import java.util.Map;
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
 * {@code /dev/infiniband/uverbs0}. What a program opens is a context of its own. It lives as long as somebody has the reading end of its
 * pipe of asynchronous events, which libibverbs closes with the context, and the kernel with the process.
 */
public final class UverbsDevice implements DeviceFile {
    /** Where a program finds it. */
    public static final String PATH = "/dev/infiniband/uverbs0";

    private static final int GET_CONTEXT = 0;
    private static final int QUERY_DEVICE = 1;
    private static final int QUERY_PORT = 2;
    private static final int GET_CONTEXT_LENGTH = 8;
    private static final int PORT_OFFSET = 8;
    private static final int COMPLETION_VECTORS = 1;

    private final ProgramKernel kernel;
    private final DescriptorRange range;
    private final RxeDevice device;
    private final WriteCommand command;
    private final ObjectCommands objects;
    private final Map<Integer, VerbsContext> contexts = new HashMap<>();

    private int lastSerial;

    /** The file of a device. */
    public UverbsDevice(ProgramKernel kernel, DescriptorRange range, RxeDevice device, Arena arena) {
        this.kernel = kernel;
        this.range = range;
        this.device = device;
        command = new WriteCommand(kernel, arena);
        objects = new ObjectCommands(kernel, command);
    }

    @Override
    public void open(Notification call, boolean closeOnExec) throws CallRefusedException {
        forgetContexts();
        int serial = lastSerial + 1;
        int file = kernel.createFile(OurFiles.name(PATH, serial), new byte[0]);
        if (file < 0) {
            throw new CallRefusedException(-file);
        }
        try {
            int number = FreeNumber.in(kernel, call.thread(), range);
            VerbsContext context = new VerbsContext(kernel, new RingMemory(kernel, file));
            int given = kernel.give(call.id(), file, number, closeOnExec, true);
            if (given < 0) {
                context.close();
                throw new CallRefusedException(-given);
            }
            contexts.put(serial, context);
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

    private void forgetContexts() {
        contexts.values().removeIf(context -> {
            boolean abandoned = context.isAbandoned();
            if (abandoned) {
                context.close();
            }
            return abandoned;
        });
    }

    /** Answers the ioctl of uverbs. */
    public void answer(Notification call) throws CallRefusedException {
        int serial = OurFiles.serialOf(kernel, call.thread(), (int) call.argument(0));
        VerbsContext context = contexts.get(serial);
        if (context == null) {
            kernel.pass(call.id());
            return;
        }
        command.read(call);
        switch (command.number()) {
            case GET_CONTEXT -> getContext(call, context);
            case QUERY_DEVICE -> queryDevice(call);
            case QUERY_PORT -> queryPort(call);
            default -> objects.answer(call, context);
        }
    }

    /** {@code struct ib_uverbs_get_context_resp}: descriptor of asynchronous events, number of completion vectors. */
    private void getContext(Notification call, VerbsContext context) throws CallRefusedException {
        if (context.hasEvents()) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
        EventPipe pipe = EventPipe.give(kernel, call.id());
        context.setEvents(pipe.writingEnd());
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
        if (command.inputByte(PORT_OFFSET) != 1) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
        PortAttributesDescriptor.write(command.output(), device);
        command.answer(call, PortAttributesDescriptor.LENGTH);
    }
}
