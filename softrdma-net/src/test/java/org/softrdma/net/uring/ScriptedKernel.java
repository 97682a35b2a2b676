package org.softrdma.net.uring;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.softrdma.net.memory.NativeMemory;

/**
 * The kernel's side of one ring, and of one stream socket at a time, as io_uring_enter(2) and tcp(7) tell of them: a test
 * says what the peer does, and requests see it when the ring is entered next. Bytes are numbered, so that each can be told
 * from its neighbours.
 */
final class ScriptedKernel extends RingCalls {
    /** Of the socket. */
    static final int DESCRIPTOR = 7777;

    static final int IN = 1;
    static final int OUT = 4;
    private static final int ERR = 8;
    private static final int HUP = 16;
    private static final int RDHUP = 0x2000;
    private static final int ALWAYS = ERR | HUP | RDHUP;
    private static final int ECONNRESET = 104;
    private static final int ENOENT = 2;

    private static final int POLL_ADD = 6;
    private static final int ASYNC_CANCEL = 14;
    private static final int RECV = 27;
    private static final int MORE = 2;
    private static final int BUFFER = 1;
    private static final int BUFFER_SHIFT = 16;
    private static final int TASKRUN = 4;
    private static final int FEATURES = 0x1ff;
    private static final int PROVIDE_BUFFERS = 22;
    private static final int KIND = 0xff;

    // struct io_uring_params
    private static final int PARAMETERS_FEATURES = 20;
    private static final int SUBMISSION_OFFSETS = 40;
    private static final int COMPLETION_OFFSETS = 80;

    // Where this kernel has its queues.
    private static final int SUBMISSION_HEAD = 0;
    private static final int SUBMISSION_TAIL = 4;
    private static final int SUBMISSION_MASK = 8;
    private static final int SUBMISSION_FLAGS = 16;
    private static final int COMPLETION_HEAD = 24;
    private static final int COMPLETION_TAIL = 28;
    private static final int COMPLETION_MASK = 32;
    private static final int ARRAY = 64;

    private final Arena arena;
    /** The completion that ends a request which is cancelled comes with the call after the one that cancels it. */
    private final boolean slowCancel;

    private long queues;
    private long entries;
    private int entryCount;
    private int completions;
    private int completionCount;
    private int submitted;
    private int completed;
    private long buffers;
    private int bufferCount;
    private int buffersTaken;

    private final List<Request> armed = new ArrayList<>();
    private final List<Request> cancelled = new ArrayList<>();
    private boolean endNext;

    // ---- the socket
    private long sent;
    private long received;
    private boolean ended;
    private boolean reset;
    private boolean full;

    private static final class Request {
        private final long userData;
        private final boolean receives;
        private final int conditions;
        private boolean pending;

        Request(long userData, boolean receives, int conditions) {
            this.userData = userData;
            this.receives = receives;
            this.conditions = conditions;
        }

        RingRequest kind() {
            return RingRequest.values()[(int) userData & KIND];
        }
    }

    ScriptedKernel(Arena arena, boolean slowCancel) {
        super(arena);
        this.arena = arena;
        this.slowCancel = slowCancel;
    }

    // ---- what the peer does

    /** Another socket, empty and with room, for which no request may be armed. */
    void newSocket() {
        if (!armed.isEmpty() || !cancelled.isEmpty()) {
            throw new AssertionError("requests of the last socket: " + this);
        }
        sent = 0;
        received = 0;
        ended = false;
        reset = false;
        full = false;
        endNext = false;
    }

    void arrive(int bytes) {
        sent += bytes;
        wake(IN);
    }

    void end() {
        ended = true;
        wake(IN | RDHUP);
    }

    void reset() {
        reset = true;
        full = false;
        wake(IN | OUT | ALWAYS);
    }

    void room() {
        full = false;
        wake(OUT);
    }

    /** The owner has sent as much as there is room for. */
    void fill() {
        full = !reset;
    }

    /** The next request that has something ends with it, as when the completion queue was full. */
    void endNextRequest() {
        endNext = true;
    }

    boolean isEnded() {
        return ended || reset;
    }

    boolean isReset() {
        return reset;
    }

    boolean isFull() {
        return full;
    }

    /** Bytes that the peer has sent. */
    long sent() {
        return sent;
    }

    /** Bytes that neither a request nor a plain call has received. */
    long left() {
        return sent - received;
    }

    private void wake(int conditions) {
        for (Request request : armed) {
            request.pending |= (conditions & request.conditions) != 0;
        }
        showWork();
    }

    private int conditions() {
        return (left() > 0 || ended || reset ? IN : 0)
                | (full ? 0 : OUT)
                | (ended || reset ? RDHUP : 0)
                | (reset ? ERR | HUP : 0);
    }

    /** recv(2): bytes, 0 if there are none, -1 at the end, or an IllegalStateException for a reset. */
    int receive(long address, int length) {
        if (armed.stream().anyMatch(request -> request.receives)) {
            throw new AssertionError("a plain call while the ring receives");
        }
        int count = take(address, length);
        if (count > 0) {
            return count;
        }
        if (reset) {
            throw new IllegalStateException("ECONNRESET");
        }
        return ended ? -1 : 0;
    }

    private int take(long address, int length) {
        int count = (int) Math.min(length, left());
        for (int i = 0; i < count; i++) {
            NativeMemory.putByte(address + i, (int) received++);
        }
        return count;
    }

    /** True if a call would do something. */
    boolean hasWork() {
        return !cancelled.isEmpty() || armed.stream().anyMatch(request -> request.pending);
    }

    private void showWork() {
        NativeMemory.putNativeInt(queues + SUBMISSION_FLAGS, hasWork() ? TASKRUN : 0);
    }

    // ---- the calls

    @Override
    int setup(int submissions, long parameters) {
        entryCount = submissions;
        completionCount = NativeMemory.getNativeInt(parameters + Integer.BYTES);
        completions = ARRAY + entryCount * Integer.BYTES;
        queues = arena.allocate(completions + 16L * completionCount, 64).address();
        entries = arena.allocate(64L * entryCount, 64).address();
        NativeMemory.putNativeInt(queues + SUBMISSION_MASK, entryCount - 1);
        NativeMemory.putNativeInt(queues + COMPLETION_MASK, completionCount - 1);
        NativeMemory.putNativeInt(parameters, entryCount);
        NativeMemory.putNativeInt(parameters + PARAMETERS_FEATURES, FEATURES);
        offsets(parameters + SUBMISSION_OFFSETS, SUBMISSION_HEAD, SUBMISSION_TAIL, SUBMISSION_MASK, 0);
        offsets(parameters + SUBMISSION_OFFSETS + 16, SUBMISSION_FLAGS, 0, ARRAY);
        offsets(parameters + COMPLETION_OFFSETS, COMPLETION_HEAD, COMPLETION_TAIL, COMPLETION_MASK, 0, 0, completions);
        return 1;
    }

    private static void offsets(long at, int... values) {
        for (int i = 0; i < values.length; i++) {
            NativeMemory.putNativeInt(at + (long) i * Integer.BYTES, values[i]);
        }
    }

    @Override
    long map(int ring, long length, long offset) {
        return offset == 0 ? queues : entries;
    }

    @Override
    void unmap(long address, long length) {
        // It belongs to the arena.
    }

    @Override
    void close(int descriptor) {
        if (descriptor != 1) {
            super.close(descriptor); // the loop's eventfd, which is real
        }
    }

    @Override
    void register(int ring, int operation, long argument, int count) {
        if (operation == PROVIDE_BUFFERS) {
            buffers = NativeMemory.getNativeLong(argument);
            bufferCount = NativeMemory.getNativeInt(argument + Long.BYTES);
        }
    }

    @Override
    int enter(int ring, int submit, int complete, int flags, long argument, long argumentBytes) {
        List<Request> over = List.copyOf(cancelled);
        for (int i = 0; i < submit; i++) {
            long at = entries + (submitted++ & (entryCount - 1)) * 64L;
            submit(at);
        }
        for (Request request : List.copyOf(armed)) {
            if (request.pending) {
                request.pending = false;
                run(request);
            }
        }
        for (Request request : slowCancel ? over : List.copyOf(cancelled)) {
            cancelled.remove(request);
            complete(request.userData, -ECANCELED, 0);
        }
        showWork();
        return submit;
    }

    private void submit(long at) {
        int operation = NativeMemory.getByte(at);
        long userData = NativeMemory.getNativeLong(at + 32);
        int conditions = NativeMemory.getNativeInt(at + 28) | ALWAYS;
        switch (operation) {
            case POLL_ADD -> arm(new Request(userData, false, conditions));
            case RECV -> arm(new Request(userData, true, IN | ALWAYS));
            case ASYNC_CANCEL -> cancel(NativeMemory.getNativeLong(at + 16), userData);
            default -> throw new AssertionError("operation " + operation);
        }
    }

    private void arm(Request request) {
        if (armed.stream().anyMatch(other -> other.userData == request.userData)) {
            throw new AssertionError("armed twice: " + request.kind() + " of " + this);
        }
        request.pending = (conditions() & request.conditions) != 0;
        armed.add(request);
    }

    private void cancel(long target, long userData) {
        for (Request request : armed) {
            if (request.userData == target) {
                armed.remove(request);
                cancelled.add(request);
                complete(userData, 0, 0);
                return;
            }
        }
        complete(userData, -ENOENT, 0);
    }

    private void run(Request request) {
        if (request.receives) {
            receive(request);
            return;
        }
        int conditions = conditions() & request.conditions;
        if (conditions != 0) {
            more(request, conditions, 0);
        }
    }

    private void receive(Request request) {
        while (left() > 0 && armed.contains(request)) {
            if (buffersTaken == shortAt(buffers + 14)) {
                last(request, -ENOBUFS);
                return;
            }
            long at = buffers + (buffersTaken & (bufferCount - 1)) * 16L;
            buffersTaken = (buffersTaken + 1) & 0xffff;
            int count = take(NativeMemory.getNativeLong(at), NativeMemory.getNativeInt(at + 8));
            more(request, count, shortAt(at + 12) << BUFFER_SHIFT | BUFFER);
        }
        if (armed.contains(request) && isEnded()) {
            last(request, reset ? -ECONNRESET : 0);
        }
    }

    private static int shortAt(long address) {
        return Short.toUnsignedInt(NativeMemory.segment(address, Short.BYTES).get(ValueLayout.JAVA_SHORT_UNALIGNED, 0));
    }

    private void more(Request request, int result, int flags) {
        if (endNext) {
            endNext = false;
            armed.remove(request);
            complete(request.userData, result, flags);
        } else {
            complete(request.userData, result, flags | MORE);
        }
    }

    private void last(Request request, int result) {
        armed.remove(request);
        complete(request.userData, result, 0);
    }

    private void complete(long userData, int result, int flags) {
        if (completed - NativeMemory.getNativeInt(queues + COMPLETION_HEAD) == completionCount) {
            throw new AssertionError("too many completions for this test: " + this);
        }
        long at = queues + completions + (completed++ & (completionCount - 1)) * 16L;
        NativeMemory.putNativeLong(at, userData);
        NativeMemory.putNativeInt(at + 8, result);
        NativeMemory.putNativeInt(at + 12, flags);
        NativeMemory.putNativeInt(queues + COMPLETION_TAIL, completed);
    }

    /** All of its state that matters for what comes. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        text.append(left()).append(" bytes").append(ended ? ", ended" : "").append(reset ? ", reset" : "");
        text.append(full ? ", full" : "").append(endNext ? ", the next request ends" : "");
        for (Request request : armed) {
            text.append(", ").append(request.kind()).append(request.conditions);
            text.append(request.pending ? " pending" : "");
        }
        for (Request request : cancelled) {
            text.append(", cancelled ").append(request.kind());
        }
        int tail = NativeMemory.getNativeInt(queues + SUBMISSION_TAIL);
        return text.append(", submitted to ").append(tail - submitted).toString();
    }
}
