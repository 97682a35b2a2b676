package org.softrdma.net.uring;

import org.softrdma.net.memory.BufferOperations;

/**
 * A descriptor on a ring: which of its requests are in the kernel, what has come ahead, and what its owner is to be told.
 * The owner opens the descriptor, makes plain calls on it, and closes it after the port.
 *
 * <p>It waits for input in one of two ways ({@link #receiveAhead}): a poll that raises an event for each edge, or a
 * multishot receive into provided buffers.
 *
 * <p>Its states change before the loop is asked for something: to make room for a request, the loop may submit others, and
 * take completions, those of this port too.
 *
 * <p>Thread: the loop's.
 */
public final class RingPort {
    /** This many times in a row it must be found empty without a large payload before it receives ahead. */
    private static final int QUIET_TIMES = 4;

    private static final int POLLIN = 1;
    private static final int POLLOUT = 4;
    private static final int POLLERR = 8;
    private static final int POLLHUP = 16;
    private static final int POLLRDHUP = 0x2000;
    private static final int BROKEN = POLLERR | POLLHUP;
    /** Of a request that should have ended and did not. */
    private static final int EIO = 5;

    private final RingLoop loop;
    private final PortEvents events;
    private final int slot;
    private final int descriptor;

    // ---- in the kernel
    private RequestState receive = RequestState.OFF;
    private RequestState poll = RequestState.OFF;
    private RoomPoll room = RoomPoll.OFF;
    private boolean sending;

    // ---- what has come
    private int first = ProvidedBuffers.NONE;
    private int last = ProvidedBuffers.NONE;
    /** Bytes of the first buffer that were received already. */
    private int taken;

    private int lent = ProvidedBuffers.NONE;
    private long lentAddress;
    private InputLeft left = InputLeft.TOLD;
    private int error;
    private int sent;

    // ---- what its owner wants, and is to be told
    private int quiet;
    private boolean paused;
    private boolean closed;
    /** Something has come, but for the end of a request that was cancelled. */
    private boolean news;

    private boolean writable;
    private boolean queued;

    RingPort(RingLoop loop, PortEvents events, int slot, int descriptor) {
        this.loop = loop;
        this.events = events;
        this.slot = slot;
        this.descriptor = descriptor;
    }

    int slot() {
        return slot;
    }

    int descriptor() {
        return descriptor;
    }

    PortEvents events() {
        return events;
    }

    // ---- receiving

    /**
     * The owner's guess of what comes, each time it has found the port empty, or is about to receive a large payload.
     *
     * @param wanted short messages come, which may be received ahead; false if the next bytes are to stay in the socket
     */
    public void receiveAhead(boolean wanted) {
        if (wanted) {
            quiet = Math.min(quiet + 1, QUIET_TIMES);
            return;
        }
        quiet = 0;
        if (receive != RequestState.OFF && !loop.cancelAndWait(this, RingRequest.RECEIVE)) {
            fail(EIO);
        }
        arm();
    }

    /** True while only what comes ahead may be received. */
    public boolean isReceivingAhead() {
        return receive != RequestState.OFF;
    }

    /** True if there are bytes that came ahead; looks for new ones if there are none. */
    public boolean hasAhead() {
        if (first == ProvidedBuffers.NONE && isReceivingAhead()) {
            loop.look();
        }
        return first != ProvidedBuffers.NONE;
    }

    /** True if there may be something of which no event will tell: bytes, the end of the stream, a failure. */
    public boolean hasMore() {
        return first != ProvidedBuffers.NONE || left != InputLeft.TOLD;
    }

    /** A plain call, while nothing was received ahead, has found fewer bytes than it asked for. */
    public void foundEmpty() {
        left = left.looked();
    }

    /** True if the stream has ended behind what came ahead. */
    public boolean isEnded() {
        return left == InputLeft.ENDED;
    }

    /** The errno of a failed receive, behind what came ahead; 0 if none has failed. */
    public int error() {
        return error;
    }

    /**
     * Lends bytes that came ahead, until the next call or the end of the event.
     *
     * @return how many, 0 if there are none; {@link #lentAddress} is where
     */
    public int lend() {
        returnLent();
        if (!hasAhead()) {
            return 0;
        }
        int id = first;
        int length = loop.buffers().length(id) - taken;
        lentAddress = loop.buffers().address(id) + taken;
        removeFirst();
        lent = id;
        return length;
    }

    /** Where the bytes are that were lent last. */
    public long lentAddress() {
        return lentAddress;
    }

    private void removeFirst() {
        first = loop.buffers().next(first);
        taken = 0;
        if (first == ProvidedBuffers.NONE) {
            last = ProvidedBuffers.NONE;
        }
    }

    /**
     * Copies bytes that came ahead.
     *
     * @param memory how
     * @param address where to
     * @param length most bytes
     * @return how many, 0 if there are none
     */
    public int copyAhead(BufferOperations memory, long address, long length) {
        returnLent();
        int copied = 0;
        while (copied < length && (copied > 0 ? first != ProvidedBuffers.NONE : hasAhead())) {
            int id = first;
            int here = (int) Math.min(length - copied, loop.buffers().length(id) - taken);
            memory.copy(loop.buffers().address(id) + taken, address + copied, here);
            copied += here;
            taken += here;
            if (taken == loop.buffers().length(id)) {
                removeFirst();
                loop.buffers().giveBack(id);
            }
        }
        return copied;
    }

    private void returnLent() {
        if (lent != ProvidedBuffers.NONE) {
            loop.buffers().giveBack(lent);
            lent = ProvidedBuffers.NONE;
        }
    }

    // ---- events

    /** Raises an event soon, after the other ports had their turn. */
    public void rearm() {
        paused = false;
        writable = true;
        loop.queue(this);
        arm();
    }

    /** Suppresses events until {@link #rearm}, but for those of {@link #awaitRoom}. */
    public void pause() {
        paused = true;
        quiet = 0;
        if (receive == RequestState.ARMED) {
            receive = RequestState.ENDING;
            loop.cancel(this, RingRequest.RECEIVE);
        }
    }

    /** Raises an event as soon as there is room to send, or a connect has an outcome. */
    public void awaitRoom() {
        if (closed) {
            return;
        }
        RoomPoll was = room;
        room = was.await();
        if (was == RoomPoll.SEEN) {
            writable = true;
            loop.queue(this);
        } else if (was == RoomPoll.OFF) {
            loop.pollRoom(this, POLLOUT);
        }
    }

    private void armRoom() {
        RoomPoll was = room;
        room = was.turnOver();
        if (was == RoomPoll.DUE) {
            loop.pollRoom(this, POLLOUT);
        } else if (room != was) {
            loop.cancel(this, RingRequest.ROOM);
        }
    }

    /** Waits for input, if nothing does. A poll begins with an edge if there is some already, a receive with the bytes. */
    private void arm() {
        if (closed || receive != RequestState.OFF) {
            return;
        }
        if (quiet == QUIET_TIMES && !paused && left.isOpen()) {
            if (poll == RequestState.ARMED) {
                poll = RequestState.ENDING;
                loop.cancel(this, RingRequest.POLL);
            }
            receive = RequestState.ARMED;
            left = left.looked();
            loop.receive(this);
        } else if (poll == RequestState.OFF) {
            poll = RequestState.ARMED;
            loop.poll(this, left.isOver() ? 0 : POLLIN | POLLRDHUP);
        }
    }

    boolean isQueued() {
        return queued;
    }

    void queued() {
        queued = true;
    }

    /** Tells the owner what has happened. */
    void tell() {
        queued = false;
        boolean mayWrite = writable;
        boolean told = mayWrite || (news && !paused);
        writable = false;
        news = false;
        try {
            if (told && !closed) {
                events.ready(mayWrite);
            }
        } finally {
            returnLent();
            if (!closed) {
                arm();
                armRoom();
            }
        }
    }

    // ---- sending

    /**
     * Sends with the other ports at the end of this turn, as much as there is room for, and then calls {@link
     * PortEvents#sent}. The memory must stay until then.
     *
     * @param vectors address of a {@code struct iovec[]}
     * @param count its entries
     * @return false if it cannot: not in an event of this loop, or too many wait already
     */
    public boolean gatherLater(long vectors, int count) {
        if (sending || closed || !loop.maySendLater()) {
            return false;
        }
        sent = 0;
        sending = true;
        loop.sendLater(this, vectors, count);
        return true;
    }

    /** True from {@link #gatherLater} until the kernel has taken what it takes. */
    boolean isSending() {
        return sending;
    }

    /**
     * The outcome of the last {@link #gatherLater}: bytes sent, perhaps 0, or the negative errno.
     */
    public int gathered() {
        settle();
        return sent;
    }

    /** Returns when no request names memory that was to be sent. */
    public void settle() {
        if (sending) {
            loop.submitSends();
        }
    }

    // ---- what the kernel says

    void received(int result, boolean more, int buffer) {
        if (!more) {
            receive = RequestState.OFF;
        }
        if (closed || result <= 0) {
            if (buffer != ProvidedBuffers.NONE) {
                loop.buffers().giveBack(buffer);
            }
        } else if (last == ProvidedBuffers.NONE) {
            first = buffer;
            last = buffer;
        } else {
            loop.buffers().link(last, buffer);
            last = buffer;
        }
        switch (result) {
            case 0 -> left = left.ended();
            case -RingCalls.ECANCELED -> {
                // On request; whoever asked for it knows.
            }
            case -RingCalls.ENOBUFS -> quiet = 0;
            default -> {
                if (result < 0) {
                    failed(-result);
                }
            }
        }
        news |= result != -RingCalls.ECANCELED;
        loop.queue(this);
    }

    void polled(int result, boolean more) {
        if (!more) {
            poll = RequestState.OFF;
        }
        if (result > 0) {
            if ((result & (BROKEN | POLLRDHUP)) != 0) {
                left = left.hungUp();
            } else if (receive == RequestState.OFF) { // else the ring receives it
                left = left.edge();
            }
            writable |= (result & POLLERR) != 0;
            news = true;
        }
        if (result > 0 || !more) {
            loop.queue(this);
        }
    }

    void room(int result, boolean more) {
        if (result > 0 && (result & (POLLOUT | BROKEN)) != 0) {
            if ((result & POLLERR) != 0) {
                left = left.hungUp();
            }
            writable |= room.isAwaited();
            room = room.room();
        }
        if (!more) {
            room = room.over();
        }
        loop.queue(this); // to arm it, or not
    }

    void sendDone(int result) {
        sending = false;
        sent = result == -RingCalls.EAGAIN ? 0 : result;
    }

    /** The loop cannot say what has become of its requests. */
    void fail(int errno) {
        failed(errno);
        writable = true;
        loop.queue(this);
    }

    private void failed(int errno) {
        left = InputLeft.FAILED;
        error = errno;
    }

    /** The kernel's record of a send is gone. */
    void sendLost() {
        sending = false;
        sent = -EIO;
        fail(EIO);
    }

    boolean isClosed() {
        return closed;
    }

    /** True while a request of it is in the kernel. */
    boolean isArmed() {
        return receive != RequestState.OFF || poll != RequestState.OFF || room.isArmed() || sending;
    }

    boolean isArmed(RingRequest request) {
        return switch (request) {
            case RECEIVE -> receive != RequestState.OFF;
            case POLL -> poll != RequestState.OFF;
            case ROOM -> room.isArmed();
            case SEND -> sending;
            case CANCEL, WAKE -> false;
        };
    }

    /** Its whole state, for messages and tests. */
    @Override
    public String toString() {
        long ahead = -taken;
        for (int id = first; id != ProvidedBuffers.NONE; id = loop.buffers().next(id)) {
            ahead += loop.buffers().length(id);
        }
        return "receive " + receive + ", poll " + poll + ", room " + room + ", input left " + left + ", error " + error
                + ", " + ahead + " bytes ahead" + (lent == ProvidedBuffers.NONE ? "" : ", lent") + ", quiet " + quiet
                + (sending ? ", sending" : "") + (paused ? ", paused" : "") + (closed ? ", closed" : "")
                + (news ? ", news" : "") + (writable ? ", writable" : "") + (queued ? ", queued" : "");
    }

    /**
     * Ends every request. The owner closes the descriptor after this, and not before: a request that is armed would keep
     * the connection open. Idempotent.
     */
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        settle();
        returnLent();
        loop.remove(this);
        while (first != ProvidedBuffers.NONE) {
            int id = first;
            removeFirst();
            loop.buffers().giveBack(id);
        }
    }
}
