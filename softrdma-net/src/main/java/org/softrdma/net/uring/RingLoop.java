package org.softrdma.net.uring;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.net.memory.BufferOperations;
import org.softrdma.net.memory.NativeMemory;

/**
 * Drives the ports of one ring. A turn: {@link #await} or {@link #poll} brings completions, {@link #dispatch} tells the
 * ports, and what they gather is submitted at its end by one call. Completions only change the state of ports; owners are
 * told in {@code dispatch} and nowhere else, so a completion may be taken at any time.
 *
 * <p>Made by any thread; from {@link #start} on its thread's, except {@link #wake}.
 */
public final class RingLoop implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RingLoop.class);

    private static final int SUBMISSIONS = 256;
    private static final int COMPLETIONS = 4096;
    /** 2 MiB for all ports of a loop. */
    private static final int BUFFERS = 256;

    private static final int BUFFER_BYTES = 8 * 1024;
    /** Sends that one call submits at most. */
    public static final int MOST_LATER = 32;

    /** Without SEND_DONTWAIT the kernel would keep the address of registered memory until there is room. */
    private static final int SEND_FLAGS = SubmissionEntry.SEND_DONTWAIT | SubmissionEntry.SEND_NOSIGNAL;

    /** Calls after which a completion that must be there is given up; one is enough but for a full queue. */
    private static final int ATTEMPTS = 1000;

    private static final int COMPLETION_BUFFER = 1;
    private static final int COMPLETION_MORE = 1 << 1;
    private static final int BUFFER_ID_SHIFT = 16;

    private static final RingRequest[] REQUESTS = RingRequest.values();
    private static final int KIND_BITS = 8;
    private static final int KIND_MASK = (1 << KIND_BITS) - 1;
    private static final int SLOT_BITS = 24;
    private static final int SLOT_MASK = (1 << SLOT_BITS) - 1;
    private static final int GENERATION_SHIFT = KIND_BITS + SLOT_BITS;
    private static final int FIRST_PORTS = 64;
    /** Of a {@code struct iovec}: where the length is. */
    private static final int VECTOR_LENGTH_OFFSET = Long.BYTES;

    private static final int POLLIN = 1;

    private final Arena arena = Arena.ofShared();
    private final Ring ring;
    private final ProvidedBuffers buffers;
    private final WakeUp wakeUp;
    private final long headers;

    private @Nullable RingPort[] ports = new RingPort[FIRST_PORTS];
    private int[] generations = new int[FIRST_PORTS];
    private int[] free = new int[FIRST_PORTS];
    private int freeCount;

    // Ports that have something for their owners: a ring of its own, in order.
    private @Nullable RingPort[] ready = new RingPort[FIRST_PORTS];
    private int readyFirst;
    private int readyCount;

    private final @Nullable RingPort[] later = new RingPort[MOST_LATER];
    private int laterCount;
    /** Sends whose completion has not come. */
    private int sends;

    /** The last turn has ended with a call, which has brought the completions of this one. */
    private boolean submitted;

    private boolean dispatching;
    private boolean wakeArmed;
    private boolean closed;

    /**
     * Makes a loop.
     *
     * @param memory allocates what is shared with the kernel
     * @throws IOException if the kernel refuses, or the process has no descriptors left
     */
    public RingLoop(BufferOperations memory) throws IOException {
        this(RingCalls::new, memory, new Sizes(SUBMISSIONS, COMPLETIONS, BUFFERS, BUFFER_BYTES));
    }

    /** Entries of the queues, number of provided buffers, bytes of each. */
    record Sizes(int submissions, int completions, int buffers, int bufferBytes) {}

    RingLoop(Function<Arena, RingCalls> kernel, BufferOperations memory, Sizes sizes) throws IOException {
        Ring opened = null;
        ProvidedBuffers provided = null;
        try {
            opened = new Ring(kernel, memory, sizes.submissions, sizes.completions);
            provided = new ProvidedBuffers(memory, opened, sizes.buffers, sizes.bufferBytes);
            headers = memory.allocate((long) MOST_LATER * MessageHeader.BYTES, Long.BYTES, arena)
                    .address();
            wakeUp = new WakeUp(arena);
        } catch (IOException | RuntimeException | Error e) {
            if (opened != null) {
                opened.close();
            }
            if (provided != null) {
                provided.close();
            }
            arena.close();
            throw e;
        }
        ring = opened;
        buffers = provided;
        for (int slot = FIRST_PORTS - 1; slot >= 0; slot--) {
            free[freeCount++] = slot;
        }
    }

    /** The calling thread drives the loop from now on. */
    public void start() throws IOException {
        ring.enable();
    }

    // ---- a turn

    /** True if nothing is to be told: the loop may wait. */
    public boolean isIdle() {
        return readyCount == 0;
    }

    /** Others wake the loop from now on; before it waits, the caller looks once more for work of its own. */
    public void fallAsleep() {
        wakeUp.fallAsleep();
    }

    /** Ends what {@link #fallAsleep} began. */
    public void awake() {
        wakeUp.awake();
    }

    /** Wakes the loop if it waits. Any thread. */
    public void wake() {
        wakeUp.wake();
    }

    /** Submits what is queued, and waits for a completion, unless something is to be told. */
    public void await(long timeoutNs) {
        armWake();
        if (isIdle()) { // a full queue was submitted before the wake-up's poll, which may have brought completions
            ring.await(timeoutNs);
            reap();
        }
    }

    /** Submits what is queued, and takes the completions that are there. */
    public void poll() {
        if (!submitted && ring.hasWork()) {
            submit();
        } else {
            reap();
        }
        submitted = false;
    }

    /**
     * Tells the ports that have something, each once, and submits what they send.
     *
     * @return how many were told
     */
    public int dispatch() {
        int count = readyCount;
        dispatching = true;
        try {
            for (int i = 0; i < count && readyCount > 0; i++) {
                next().tell();
                if (laterCount == MOST_LATER) {
                    flush();
                }
            }
        } finally {
            flush();
            dispatching = false;
        }
        return count;
    }

    private void armWake() {
        if (!wakeArmed) {
            SubmissionEntry.poll(entry(), wakeUp.descriptor(), POLLIN, RingRequest.WAKE.ordinal());
            wakeArmed = true;
        }
    }

    // ---- ports

    /**
     * Makes a port of a descriptor, which stays open until the port is closed. It waits for nothing yet.
     *
     * @param descriptor non-blocking
     * @param events told what happens
     */
    public RingPort open(int descriptor, PortEvents events) {
        if (freeCount == 0) {
            grow();
        }
        int slot = free[freeCount - 1];
        RingPort port = new RingPort(this, events, slot, descriptor);
        freeCount--; // last: if there is no memory for the port, its slot stays free
        ports[slot] = port;
        return port;
    }

    private void grow() {
        int old = ports.length;
        int[] moreFree = Arrays.copyOf(free, 2 * old);
        growReady(2 * old);
        generations = Arrays.copyOf(generations, 2 * old);
        ports = Arrays.copyOf(ports, 2 * old);
        free = moreFree;
        for (int slot = 2 * old - 1; slot >= old; slot--) {
            free[freeCount++] = slot;
        }
    }

    /** Ends the requests of a closed port. */
    void remove(RingPort port) {
        if (closed) {
            return;
        }
        for (RingRequest request : REQUESTS) {
            if (port.isArmed(request)) {
                cancel(port, request);
            }
        }
        for (int attempt = 0; port.isArmed() && attempt < ATTEMPTS; attempt++) {
            submit();
        }
        if (port.isArmed()) {
            LOG.error("a request of a closed socket does not end, its descriptor may stay open: {}", port);
        }
        int slot = port.slot();
        ports[slot] = null;
        generations[slot]++;
        free[freeCount++] = slot;
    }

    /** Ports that are open. */
    int open() {
        return ports.length - freeCount;
    }

    ProvidedBuffers buffers() {
        return buffers;
    }

    /** A port has something for its owner. */
    void queue(RingPort port) {
        if (port.isQueued() || port.isClosed()) {
            return;
        }
        if (readyCount == ready.length) {
            forgetClosed();
        }
        ready[(readyFirst + readyCount) & (ready.length - 1)] = port;
        readyCount++;
        port.queued();
    }

    /** Room for all ports that are open: a completion must find room without memory. */
    private void growReady(int length) {
        @Nullable RingPort[] more = new RingPort[length];
        for (int i = 0; i < readyCount; i++) {
            more[i] = ready[(readyFirst + i) & (ready.length - 1)];
        }
        ready = more;
        readyFirst = 0;
    }

    /** Closed ports have nothing for anybody. */
    private void forgetClosed() {
        int kept = 0;
        for (int i = 0; i < readyCount; i++) {
            int from = (readyFirst + i) & (ready.length - 1);
            RingPort port = ready[from];
            ready[from] = null;
            if (port != null && !port.isClosed()) {
                ready[(readyFirst + kept++) & (ready.length - 1)] = port;
            }
        }
        readyCount = kept;
    }

    private RingPort next() {
        RingPort port = ready[readyFirst];
        ready[readyFirst] = null;
        readyFirst = (readyFirst + 1) & (ready.length - 1);
        readyCount--;
        if (port == null) {
            throw new IllegalStateException("no port at " + readyFirst);
        }
        return port;
    }

    // ---- requests

    private long userData(RingPort port, RingRequest request) {
        return (long) generations[port.slot()] << GENERATION_SHIFT
                | (long) port.slot() << KIND_BITS
                | request.ordinal();
    }

    private long entry() {
        if (ring.isFull()) {
            submit();
        }
        return ring.entry();
    }

    void poll(RingPort port, int conditions) {
        SubmissionEntry.poll(entry(), port.descriptor(), conditions, userData(port, RingRequest.POLL));
    }

    void pollRoom(RingPort port, int conditions) {
        SubmissionEntry.poll(entry(), port.descriptor(), conditions, userData(port, RingRequest.ROOM));
    }

    void receive(RingPort port) {
        SubmissionEntry.receive(entry(), port.descriptor(), ProvidedBuffers.GROUP, userData(port, RingRequest.RECEIVE));
    }

    void cancel(RingPort port, RingRequest request) {
        SubmissionEntry.cancel(entry(), userData(port, request), RingRequest.CANCEL.ordinal());
    }

    /** Ends a request; returns false if its last completion does not come. */
    boolean cancelAndWait(RingPort port, RingRequest request) {
        cancel(port, request);
        for (int attempt = 0; port.isArmed(request) && attempt < ATTEMPTS; attempt++) {
            submit();
        }
        return !port.isArmed(request);
    }

    /** True in an event of a port, if there is room for another send. */
    boolean maySendLater() {
        return dispatching && laterCount < MOST_LATER;
    }

    void sendLater(RingPort port, long vectors, int count) {
        long userData = userData(port, RingRequest.SEND);
        if (count == 1) {
            int length = Math.toIntExact(NativeMemory.getNativeLong(vectors + VECTOR_LENGTH_OFFSET));
            SubmissionEntry.send(
                    entry(), port.descriptor(), NativeMemory.getNativeLong(vectors), length, SEND_FLAGS, userData);
        } else {
            long header = headers + (long) laterCount * MessageHeader.BYTES;
            MessageHeader.set(header, vectors, count);
            SubmissionEntry.sendMessage(entry(), port.descriptor(), header, SEND_FLAGS, userData);
        }
        later[laterCount++] = port;
        sends++;
    }

    /** Submits what is to be sent later, and tells the ports what has become of it. */
    private void flush() {
        int count = laterCount;
        if (count == 0) {
            return;
        }
        submitSends(); // before anybody is told
        submitted = true;
        boolean was = dispatching;
        dispatching = false; // what they gather now goes at once
        try {
            for (int i = 0; i < count; i++) {
                RingPort port = later[i];
                later[i] = null;
                if (port != null && !port.isClosed()) {
                    port.events().sent();
                }
            }
        } finally {
            laterCount = 0;
            dispatching = was;
        }
    }

    /** Submits what is to be sent later. No request names its memory any more when this returns. */
    void submitSends() {
        submit();
        for (int attempt = 0; sends > 0 && attempt < ATTEMPTS; attempt++) {
            submit();
        }
        if (sends > 0) {
            giveUpSends();
        }
    }

    /** The completions of some sends were lost: either they are over, or this ends them. */
    private void giveUpSends() {
        LOG.error("{} sends have no completion; their connections end", sends);
        for (int i = 0; i < laterCount; i++) {
            RingPort port = later[i];
            if (port != null && port.isSending() && !cancelAndWait(port, RingRequest.SEND)) {
                port.sendLost();
            }
        }
        sends = 0;
    }

    private void submit() {
        int attempts = 0;
        while (!ring.submit()) {
            reap();
            if (++attempts == ATTEMPTS) {
                throw new IllegalStateException("the kernel takes no requests");
            }
        }
        reap();
    }

    // ---- completions

    /** A port without input asks whether some has come; not in an event, where the others have their turn first. */
    void look() {
        if (!dispatching) {
            poll();
        }
    }

    private void reap() {
        int completion = ring.firstCompletion();
        int end = ring.lastCompletion();
        if (completion != end) {
            try {
                while (completion != end) {
                    int next = completion++;
                    take(ring.userData(next), ring.result(next), ring.flags(next));
                }
            } finally {
                ring.advance(completion); // none is taken twice, whatever fails
            }
        }
        if (ring.takeCompletionsLost()) {
            LOG.error("io_uring has lost completions; all connections of this loop end");
            for (RingPort port : ports) {
                if (port != null) {
                    port.fail(RingCalls.EBADR);
                }
            }
        }
    }

    private void take(long userData, int result, int flags) {
        RingRequest request = REQUESTS[(int) userData & KIND_MASK];
        boolean more = (flags & COMPLETION_MORE) != 0;
        int buffer = (flags & COMPLETION_BUFFER) == 0 ? ProvidedBuffers.NONE : flags >>> BUFFER_ID_SHIFT;
        if (buffer != ProvidedBuffers.NONE) {
            buffers.taken(buffer, result);
        }
        if (request == RingRequest.WAKE) {
            wakeArmed = more;
            return;
        }
        if (request == RingRequest.CANCEL) {
            return;
        }
        int slot = (int) (userData >>> KIND_BITS) & SLOT_MASK;
        RingPort port = ports[slot];
        if (port == null || generations[slot] != (int) (userData >>> GENERATION_SHIFT)) {
            if (buffer != ProvidedBuffers.NONE) {
                buffers.giveBack(buffer);
            }
            return;
        }
        switch (request) {
            case RECEIVE -> port.received(result, more, buffer);
            case POLL -> port.polled(result, more);
            case ROOM -> port.room(result, more);
            case SEND -> {
                sends--;
                port.sendDone(result);
            }
            case CANCEL, WAKE -> throw new IllegalStateException(request.toString());
        }
    }

    /** After all ports are closed. On the loop's thread, or on any if it was never started. Idempotent. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        boolean written = wakeUp.awaitWriters();
        if (written) {
            ring.closeDescriptor(wakeUp.descriptor());
        }
        ring.close();
        buffers.close();
        if (written) {
            arena.close();
        } else {
            LOG.error("a thread that woke this loop did not finish; its eventfd stays open");
        }
    }
}
