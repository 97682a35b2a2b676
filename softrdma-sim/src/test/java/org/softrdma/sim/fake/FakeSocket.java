package org.softrdma.sim.fake;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.net.transport.IoVectors;
import org.softrdma.net.transport.SocketEvents;
import org.softrdma.net.transport.StreamSocket;

/**
 * A socket whose peer is the test. Incoming bytes come in pieces, each by a call of its own; outgoing bytes are collected,
 * and a function says how many of those offered are taken. Edge triggered, like the real ones. If it is told to, it
 * behaves like a socket of io_uring: it lends what it has received ahead, and sends at the end of a round.
 */
final class FakeSocket implements StreamSocket {
    /** Times that it must be found empty before it receives ahead. */
    private static final int QUIET = 2;

    private static final int LENT_BYTES = 512;
    private static final InetSocketAddress PEER = new InetSocketAddress(InetAddress.getLoopbackAddress(), 2);

    private final Deque<byte[]> incoming = new ArrayDeque<>();
    private final ByteArrayOutputStream outgoing = new ByteArrayOutputStream();
    private LongUnaryOperator taking = offered -> offered;
    private long room = Long.MAX_VALUE;
    private int writable = Integer.MAX_VALUE;
    private Runnable meanwhile = () -> {};
    private Runnable beforeEachCall = () -> {};
    private @Nullable SocketEvents events;
    private int position;
    private boolean eventDue;
    private boolean writableDue;
    private boolean peerEnded;
    private boolean peerReset;
    private boolean outputEnded;
    private boolean hostSilent;
    private boolean closed;

    // Like io_uring.
    private boolean ring;
    private int quiet;
    private @Nullable MemorySegment lent;
    private boolean raising;
    private @Nullable IoVectors later;
    private int laterCount;
    private long gathered;
    private @Nullable IOException failed;

    // ---- the test

    /** From now on it receives ahead and sends later. */
    FakeSocket likeIoUring() {
        ring = true;
        return this;
    }

    /** Bytes come, all by one call if there is room. */
    FakeSocket give(byte[] bytes) {
        if (bytes.length > 0) {
            incoming.addLast(bytes);
        }
        eventDue = true;
        return this;
    }

    /** The peer ends its stream behind what it gave. */
    FakeSocket giveEnd() {
        peerEnded = true;
        eventDue = true;
        return this;
    }

    /** The peer resets: what was not received is lost. */
    void giveReset() {
        peerReset = true;
        eventDue = true;
    }

    /** The kernel would say from now on whether the peer's host is gone. */
    void hostSilent(boolean silent) {
        hostSilent = silent;
    }

    /** From now on a call takes this many of the bytes offered to it. */
    FakeSocket taking(LongUnaryOperator newTaking) {
        taking = newTaking;
        return this;
    }

    /** From now on only so many more bytes are taken; then the socket is full and says so, until {@link #takeAll}. */
    FakeSocket takeOnly(long bytes) {
        room = bytes;
        return this;
    }

    /** There is room again. */
    FakeSocket takeAll() {
        room = Long.MAX_VALUE;
        raiseLater();
        return this;
    }

    /** From now on this is done at the end of every call that receives, as another thread might do it. */
    FakeSocket meanwhile(Runnable action) {
        meanwhile = action;
        return this;
    }

    /**
     * From now on the memory of a scatter has only so many bytes more that can be written: as the kernel does, the call that meets
     * the end says how many bytes came before it, the next one fails.
     */
    FakeSocket pageGoneAfter(int bytes) {
        writable = bytes;
        return this;
    }

    /** From now on this is done at the beginning of every call that may fail. */
    FakeSocket beforeEachCall(Runnable action) {
        beforeEachCall = action;
        return this;
    }

    /** True while something waits to be sent at the end of the round. */
    boolean sendsLater() {
        return later != null;
    }

    /** Everything that was sent. */
    byte[] sent() {
        return outgoing.toByteArray();
    }

    boolean isOutputEnded() {
        return outputEnded || closed;
    }

    /** True if a connection was made of it. */
    boolean isAttached() {
        return events != null;
    }

    boolean isClosed() {
        return closed;
    }

    // ---- the loop

    void attach(SocketEvents newEvents) {
        events = newEvents;
        eventDue = true;
        writableDue = true;
    }

    int raise() {
        SocketEvents current = events;
        if (!eventDue || closed || current == null) {
            return 0;
        }
        boolean writable = writableDue;
        eventDue = false;
        writableDue = false;
        raising = true;
        try {
            current.ready(writable);
        } finally {
            raising = false;
            returnLent();
        }
        return 1;
    }

    /** The end of a round: sends what was to be sent later. */
    int flush() {
        SocketEvents current = events;
        if (later == null || current == null) {
            return 0;
        }
        sendNow();
        if (!closed) {
            current.sentLater();
        }
        return 1;
    }

    private void sendNow() {
        IoVectors vectors = later;
        later = null;
        if (vectors != null) {
            try {
                gathered = send(vectors, 0, laterCount);
            } catch (IOException e) {
                failed = e;
            }
        }
    }

    @Override
    public boolean gatherLater(IoVectors vectors, int count) {
        if (!ring || !raising || later != null) {
            return false;
        }
        beforeEachCall.run();
        later = vectors;
        laterCount = count;
        gathered = 0;
        failed = null;
        return true;
    }

    @Override
    public long gathered() throws IOException {
        sendNow();
        beforeEachCall.run();
        if (failed != null) {
            throw failed;
        }
        return gathered;
    }

    // ---- receiving ahead

    @Override
    public void receiveAhead(boolean wanted) {
        quiet = wanted ? quiet + 1 : 0;
    }

    @Override
    public boolean hasAhead() {
        return ring && quiet >= QUIET && !closed && !peerReset && !incoming.isEmpty();
    }

    @Override
    public int lend() {
        returnLent();
        if (!hasAhead()) {
            return 0;
        }
        MemorySegment memory = Arena.ofAuto().allocate(LENT_BYTES);
        lent = memory;
        try {
            int received = take(memory.address(), LENT_BYTES);
            meanwhile.run();
            return received;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public long lentAddress() {
        MemorySegment memory = lent;
        if (memory == null) {
            throw new AssertionError("nothing is lent");
        }
        return memory.address();
    }

    /** What was lent may be filled with something else from now on. */
    private void returnLent() {
        if (lent != null) {
            lent.fill((byte) 0xDD);
            lent = null;
        }
    }

    // ---- the engine

    @Override
    public int receive(long address, int length) throws IOException {
        beforeEachCall.run();
        returnLent();
        int received = take(address, length);
        meanwhile.run();
        return received;
    }

    private int take(long address, int length) throws IOException {
        checkOpen();
        if (peerReset) {
            throw new IOException("Connection reset by peer");
        }
        byte[] piece = incoming.peekFirst();
        if (piece == null) {
            return peerEnded ? END_OF_STREAM : 0;
        }
        int here = Math.min(length, piece.length - position);
        NativeMemory.put(address, Arrays.copyOfRange(piece, position, position + here));
        position += here;
        if (position == piece.length) {
            incoming.removeFirst();
            position = 0;
            eventDue |= !incoming.isEmpty() || peerEnded;
        }
        return here;
    }

    @Override
    public int scatter(IoVectors vectors, int count) throws IOException {
        beforeEachCall.run();
        if (writable < vectors.length(0)) {
            if (writable == 0) {
                throw new IOException("Bad address");
            }
            int here = take(vectors.base(0), writable);
            writable -= here;
            return here;
        }
        int total = 0;
        for (int i = 0; i < count; i++) {
            byte[] before = incoming.peekFirst();
            int here = take(vectors.base(i), Math.toIntExact(vectors.length(i)));
            if (here < 0) {
                total = total == 0 ? here : total;
                break;
            }
            total += here;
            if (here < vectors.length(i) || before != incoming.peekFirst()) {
                break;
            }
        }
        meanwhile.run();
        return total;
    }

    @Override
    public boolean isHostSilent() {
        return hostSilent;
    }

    @Override
    public boolean hasMore() {
        return peerReset || hasAhead();
    }

    @Override
    public void rearm() {
        beforeEachCall.run();
        raiseLater();
    }

    private void raiseLater() {
        eventDue = true;
        writableDue = true;
    }

    @Override
    public void pause() {
        beforeEachCall.run();
    }

    @Override
    public long gather(IoVectors vectors, int from, int count) throws IOException {
        beforeEachCall.run();
        return send(vectors, from, count);
    }

    private long send(IoVectors vectors, int from, int count) throws IOException {
        checkOpen();
        if (peerReset) {
            throw new IOException("Broken pipe");
        }
        if (outputEnded) {
            throw new AssertionError("bytes behind the end of the stream");
        }
        long offered = 0;
        for (int i = 0; i < count; i++) {
            offered += vectors.length(from + i);
        }
        long taken = Math.min(Math.min(offered, room), taking.applyAsLong(offered));
        room -= taken;
        long left = taken;
        for (int i = 0; i < count && left > 0; i++) {
            int here = (int) Math.min(left, vectors.length(from + i));
            outgoing.writeBytes(NativeMemory.bytes(vectors.base(from + i), here));
            left -= here;
        }
        return taken;
    }

    @Override
    public void awaitRoom() {
        beforeEachCall.run();
        if (room > 0) {
            raiseLater();
        }
    }

    private void checkOpen() {
        if (closed) {
            throw new AssertionError("a closed socket was used");
        }
    }

    @Override
    public boolean finishConnect() {
        beforeEachCall.run();
        return true;
    }

    @Override
    public InetSocketAddress localAddress() {
        return PEER;
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return PEER;
    }

    @Override
    public void shutdownOutput() {
        outputEnded = true;
    }

    @Override
    public void close() {
        if (!closed) {
            sendNow();
            returnLent();
            closed = true;
        }
    }

    @Override
    public void abort() {
        close();
    }
}
