package org.softrdma.run.rdmacm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.softrdma.run.card.EventWriter;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.ErrorNumber;
import org.softrdma.run.kernel.Notification;
import org.softrdma.run.kernel.ProgramKernel;

/**
 * Events of a program's ids, in order, until it reads them by GET_EVENT. What the program has open is the reading end of a pipe, which has
 * a word as long as there are events: so poll, epoll and O_NONBLOCK are the kernel's. A thread that waits for an event waits for the answer
 * to its call.
 */
final class CmChannel {
    private static final long WORD = 1;
    private static final int NON_BLOCKING = 04000;

    private final ProgramKernel kernel;
    private final EventWriter pipes;
    private final int writingEnd;
    private final Arena arena = Arena.ofAuto();
    private final MemorySegment buffer = arena.allocate(RdmaCmEvent.LENGTH, Long.BYTES);
    /** A list stays whole if there is no memory to add to it; an ArrayDeque would seem empty. */
    private final List<RdmaCmEvent> events = new ArrayList<>();

    private final List<Waiter> waiters = new ArrayList<>();
    private boolean told;

    /** A call of GET_EVENT that has not been answered. */
    private record Waiter(long call, int thread, long address, int room, long written) {}

    /**
     * Without events.
     *
     * @param writingEnd of its pipe, here
     */
    CmChannel(ProgramKernel kernel, EventWriter pipes, int writingEnd) {
        this.kernel = kernel;
        this.pipes = pipes;
        this.writingEnd = writingEnd;
    }

    int writingEnd() {
        return writingEnd;
    }

    /** Whether no program has it any more. */
    boolean isAbandoned() {
        return kernel.isAbandoned(writingEnd);
    }

    /** Something has happened. */
    void add(RdmaCmEvent event) {
        events.addLast(event);
        while (!waiters.isEmpty() && !events.isEmpty()) {
            Waiter next = waiters.removeFirst();
            if (kernel.waits(next.call)) {
                give(next);
            }
        }
        if (!events.isEmpty() && !told) {
            told = pipes.word(writingEnd, WORD);
        }
    }

    /** One that the program cannot read stays. */
    private void give(Waiter waiter) {
        RdmaCmEvent event = events.getFirst();
        buffer.copyFrom(event.bytes());
        int bytes = Math.min(RdmaCmEvent.LENGTH, waiter.room);
        if (kernel.write(waiter.thread, buffer, waiter.address, bytes) != bytes) {
            kernel.refuse(waiter.call, ErrorNumber.EFAULT);
            return;
        }
        RdmaCmEvent read = events.removeFirst();
        read.counted().read(read);
        kernel.answer(waiter.call, waiter.written);
    }

    /**
     * Answers GET_EVENT, now or when there is an event.
     *
     * @param address where the program wants it
     * @param room for it
     * @throws CallRefusedException EAGAIN if there is none and the program does not wait
     */
    void next(Notification call, long address, int room) throws CallRefusedException {
        Waiter waiter = new Waiter(call.id(), call.thread(), address, room, call.argument(2));
        if (!events.isEmpty()) {
            give(waiter);
            quieten(call.thread(), (int) call.argument(0));
        } else if ((kernel.statusFlags(call.thread(), (int) call.argument(0)) & NON_BLOCKING) != 0) {
            throw new CallRefusedException(ErrorNumber.EAGAIN);
        } else {
            waiters.addLast(waiter);
        }
    }

    /** Takes the events of an id out, because it goes, or goes to another channel. */
    List<RdmaCmEvent> remove(RdmaCmId id, int thread, int descriptor) {
        List<RdmaCmEvent> removed = new ArrayList<>();
        for (Iterator<RdmaCmEvent> each = events.iterator(); each.hasNext(); ) {
            RdmaCmEvent event = each.next();
            if (event.counted() == id) {
                removed.add(event);
                each.remove();
            }
        }
        quieten(thread, descriptor);
        return removed;
    }

    /** Takes the word out of the pipe if there are no events. */
    private void quieten(int thread, int descriptor) {
        if (told && events.isEmpty()) {
            int ignored = kernel.removeWords(thread, descriptor, writingEnd, WORD, Long.BYTES);
            told = false;
        }
    }

    /** Nobody has it any more. */
    void close() {
        kernel.close(writingEnd);
    }
}
