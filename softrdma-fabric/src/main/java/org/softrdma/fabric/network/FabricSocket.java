package org.softrdma.fabric.network;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.softrdma.fabric.scheduler.Scheduler;
import org.softrdma.net.transport.IoVectors;
import org.softrdma.net.transport.LoopGuard;
import org.softrdma.net.transport.RequestNames;
import org.softrdma.net.transport.SocketEvents;
import org.softrdma.net.transport.StreamSocket;

/**
 * One end of a connection of the network. Strictly edge triggered: an edge that was taken and not used does not come
 * again.
 */
final class FabricSocket implements StreamSocket {
    private enum State {
        CONNECTING,
        OPEN,
        REFUSED,
        CLOSED
    }

    private final Reachability reachability;
    private final Scheduler scheduler;
    private final OpenCount open;
    private final InetSocketAddress local;
    private final InetSocketAddress remote;
    private final Direction in;
    private final Direction out;
    private State state;
    private @Nullable SocketEvents events;
    private String refusal = "";
    private boolean readEdge;
    private boolean writeEdge;
    private boolean rearmed;
    private boolean paused;
    private boolean awaitingRoom;
    private @Nullable FabricSocket peer;

    /** Of its loop; null if that has none. */
    private @Nullable Turn turn;

    /** What is to be sent at the end of the turn, and what has become of the last. */
    private @Nullable IoVectors later;

    private int laterCount;
    private long laterSent;
    private @Nullable IOException laterFailure;

    FabricSocket(
            Medium medium,
            OpenCount open,
            InetSocketAddress local,
            InetSocketAddress remote,
            Direction in,
            Direction out,
            boolean connected) {
        reachability = medium.reachability();
        scheduler = medium.scheduler();
        this.open = open;
        this.local = local;
        this.remote = remote;
        this.in = in;
        this.out = out;
        state = connected ? State.OPEN : State.CONNECTING;
        in.receiver(this);
        out.sender(this);
        open.opened();
    }

    void peer(FabricSocket other) {
        peer = other;
    }

    /** A loop drives it from now on; the first event is raised at once. */
    void attach(SocketEvents newEvents, @Nullable Turn newTurn) {
        events = newEvents;
        turn = newTurn;
        if (state == State.OPEN) {
            readEdge = true;
            writeEdge = true;
        }
    }

    // ---- the network

    void connected() {
        if (state == State.CONNECTING) {
            state = State.OPEN;
            writeEdge = true;
        } else if (state == State.CLOSED) {
            out.sendReset(); // as a kernel answers what comes for nobody
        }
    }

    void refused(String reason) {
        if (state == State.CONNECTING) {
            state = State.REFUSED;
            refusal = reason;
            writeEdge = true;
        }
    }

    /** Bytes, the end or a reset are there. */
    void arrived() {
        readEdge = true;
        writeEdge |= in.isReset();
        if (state == State.CLOSED && in.available() > 0) {
            in.die();
            out.sendReset(); // likewise; an end alone is no news to it
        }
    }

    /** The direction takes bytes again. */
    void roomMade() {
        if (awaitingRoom && out.room() > 0) {
            awaitingRoom = false;
            writeEdge = true;
        }
    }

    /**
     * The wrId of a request whose message is being sent, by its number on the connection, from 0; empty if it has none.
     */
    OptionalLong wrId(long request) {
        return events instanceof RequestNames names ? names.wrId(request) : OptionalLong.empty();
    }

    /** The network cuts the stream that arrives here, behind all that was sent: the other end learns it later. */
    void cutByNetwork() {
        out.sendReset();
    }

    /** The network resets the connection: both ends learn it at once. */
    void resetByNetwork() {
        in.breakOff();
        out.breakOff();
    }

    // ---- the loop

    boolean hasEvent() {
        return state != State.CLOSED && events != null && (writeEdge || rearmed || (readEdge && !paused));
    }

    /** Raises what is due; what fails in it costs this connection. */
    void raise() {
        boolean writable = writeEdge || (rearmed && out.room() > 0);
        readEdge = false;
        writeEdge = false;
        rearmed = false;
        SocketEvents current = events;
        if (current == null) {
            return;
        }
        try {
            current.ready(writable);
        } catch (RuntimeException | Error e) {
            LoopGuard.failed(this::close, current, e);
        }
    }

    /** Tells what has become of what was sent at the end of a turn. */
    void tellSent() {
        SocketEvents current = events;
        if (current == null || state == State.CLOSED) {
            return;
        }
        try {
            current.sentLater();
        } catch (RuntimeException | Error e) {
            LoopGuard.failed(this::close, current, e);
        }
    }

    // ---- the device

    private void requireOpen(String what) throws IOException {
        if (state == State.CLOSED) {
            throw new IOException(what + " on a closed socket");
        }
    }

    @Override
    public int receive(long address, int length) throws IOException {
        requireOpen("receive");
        int there = Math.min(length, in.available());
        int count = in.receive(address, turn == null ? there : turn.ahead(there));
        return count > 0 ? received(count) : nothing();
    }

    @Override
    public int scatter(IoVectors vectors, int count) throws IOException {
        requireOpen("receive");
        int total = 0;
        for (int i = 0; i < count; i++) {
            int here = in.receive(vectors.base(i), vectors.length(i));
            total += here;
            if (here < vectors.length(i)) {
                break;
            }
        }
        return total > 0 ? received(total) : nothing();
    }

    private int received(int count) {
        scheduler.note("receives", count);
        FabricSocket other = peer;
        if (other != null) {
            other.roomMade();
        }
        return count;
    }

    private int nothing() throws IOException {
        if (in.isReset()) {
            throw new IOException("Connection reset by peer");
        }
        return in.isAtEnd() ? END_OF_STREAM : 0;
    }

    @Override
    public boolean hasMore() {
        return in.isEnded() || in.isReset() || (turn != null && in.available() > 0);
    }

    @Override
    public void rearm() {
        paused = false;
        rearmed = true;
    }

    @Override
    public void pause() {
        paused = true;
    }

    @Override
    public boolean gatherLater(IoVectors vectors, int count) {
        if (turn == null || later != null || state != State.OPEN || !turn.take(this)) {
            return false;
        }
        later = vectors;
        laterCount = count;
        return true;
    }

    /** Sends what was to be sent at the end of the turn, if it was not sent before. */
    void settle() {
        IoVectors vectors = later;
        if (vectors == null) {
            return;
        }
        later = null;
        try {
            laterSent = send(vectors, 0, laterCount);
        } catch (IOException e) {
            laterFailure = e;
        }
    }

    @Override
    public long gathered() throws IOException {
        settle();
        IOException failure = laterFailure;
        if (failure != null) {
            throw failure;
        }
        return laterSent;
    }

    @Override
    public long gather(IoVectors vectors, int from, int count) throws IOException {
        settle();
        return send(vectors, from, count);
    }

    private long send(IoVectors vectors, int from, int count) throws IOException {
        requireOpen("send");
        if (in.isReset()) {
            throw new IOException("Broken pipe");
        }
        long total = 0;
        for (int i = from; i < from + count; i++) {
            long length = vectors.length(i);
            int here = out.send(vectors.base(i), length);
            total += here;
            if (here < length) {
                break;
            }
        }
        scheduler.note("sends", total);
        scheduler.trace().mix(out.checksum());
        return total;
    }

    @Override
    public void awaitRoom() {
        awaitingRoom = true;
        roomMade();
    }

    @Override
    public boolean finishConnect() throws IOException {
        return switch (state) {
            case CONNECTING -> false;
            case OPEN -> true;
            case REFUSED -> throw new ConnectException(refusal);
            case CLOSED -> throw new IOException("the socket is closed");
        };
    }

    @Override
    public boolean isHostSilent() {
        long limitNs = open.hostTimeoutNs();
        long silentNs = Math.max(
                reachability.silentNs(local.getAddress(), remote.getAddress()),
                Math.max(in.stalledNs(), out.stalledNs())); // no acknowledgement comes through either
        return limitNs > 0 && silentNs >= limitNs;
    }

    @Override
    public InetSocketAddress localAddress() {
        return local;
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return remote;
    }

    @Override
    public void shutdownOutput() {
        settle();
        if (state == State.OPEN) {
            out.sendEnd();
        }
    }

    @Override
    public void close() {
        end(in.hasUnread());
    }

    @Override
    public void abort() {
        end(true);
    }

    /** Nobody receives here any more. */
    boolean isClosed() {
        return state == State.CLOSED;
    }

    private void end(boolean reset) {
        if (state == State.CLOSED) {
            return;
        }
        settle();
        boolean wasOpen = state == State.OPEN;
        state = State.CLOSED;
        open.closed();
        if (wasOpen && reset && !in.isReset()) {
            out.sendReset();
            in.die();
        } else if (wasOpen) {
            out.sendEnd();
        }
    }
}
