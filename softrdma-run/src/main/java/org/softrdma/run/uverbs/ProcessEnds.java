package org.softrdma.run.uverbs;

import java.util.HashMap;
import java.util.Map;
import org.softrdma.run.files.FreeNumber;
import org.softrdma.run.filter.DescriptorRange;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.Notification;
import org.softrdma.run.kernel.ProgramKernel;

/**
 * Lets the processes that have opened the device end with this one, however it ends: one that polls a queue makes no call, and would go on
 * for ever beside a card that is gone. Each has the reading end of a pipe among the numbers of ours. The thread that answers calls.
 */
final class ProcessEnds {
    private final ProgramKernel kernel;
    private final DescriptorRange range;
    private final Map<Integer, Integer> writingEnds = new HashMap<>();

    ProcessEnds(ProgramKernel kernel, DescriptorRange range) {
        this.kernel = kernel;
        this.range = range;
    }

    /**
     * The process of a call is one of them.
     *
     * @throws CallRefusedException if there is no descriptor left, here or there
     */
    void add(Notification call) throws CallRefusedException {
        int process = kernel.processOf(call.thread());
        if (writingEnds.containsKey(process)) {
            return;
        }
        int number = FreeNumber.lastIn(kernel, call.thread(), range);
        long pipe = kernel.createPipe();
        if (pipe < 0) {
            throw new CallRefusedException((int) -pipe);
        }
        int readingEnd = (int) pipe;
        int writingEnd = (int) (pipe >>> Integer.SIZE);
        kernel.killWhenClosed(readingEnd, process);
        int given = kernel.give(call.id(), readingEnd, number, true, false);
        kernel.close(readingEnd);
        if (given < 0) {
            kernel.close(writingEnd);
            throw new CallRefusedException(-given);
        }
        writingEnds.put(process, writingEnd);
    }

    /** Forgets those that have ended, or become another program. */
    void forget() {
        writingEnds.values().removeIf(writingEnd -> {
            boolean ended = kernel.isAbandoned(writingEnd);
            if (ended) {
                kernel.close(writingEnd);
            }
            return ended;
        });
    }
}
