package org.softrdma.kv.server.stream;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.server.host.ClientChannel;
import org.softrdma.kv.server.host.ClientHandler;
import org.softrdma.kv.server.tls.TlsPort;
import org.softrdma.net.transport.EventLoop;
import org.softrdma.net.transport.SocketEvents;
import org.softrdma.net.transport.StreamSocket;

/** A client's connection. The thread of its loop. */
final class StreamChannel implements ClientChannel, SocketEvents {
    /** After this many receives, others have their turn. */
    private static final int MOST_RECEIVES = 16;

    /** Whoever sends more than this at once is not received ahead. */
    private static final int LARGE_BYTES = 8 * 1024;

    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final EventLoop loop;
    private final LoopBuffers buffers;
    private final Consumer<? super StreamChannel> gone;
    private final StreamOutput output;
    private final ClientHandler handler;
    private final ArrayDeque<Runnable> whenSent = new ArrayDeque<>();

    /** Made once: nothing that fails may keep it from running. */
    private final Runnable end;

    private volatile @Nullable StreamSocket socket;
    private volatile @Nullable SocketAddress local;

    /** Input that the handler has not used up, oldest first. */
    private final ArrayDeque<ByteBuf> kept = new ArrayDeque<>();

    /** Input that the handler is being told of, unless it has used it up. */
    private @Nullable ByteBuf arriving;

    /** The buffer that the handler fills, and the view of it that the handler has. */
    private @Nullable ByteBuf filling;

    private ByteBuffer view = NOTHING;

    /** Where the view began. */
    private int viewStart;

    private boolean opened;
    private boolean reading = true;
    private boolean inputEnded;
    private boolean writable = true;

    /** The offer goes at the end of the turn. */
    private boolean later;

    /** The network takes no more for now. */
    private boolean full;

    private boolean closed;

    /**
     * Not connected yet.
     *
     * @param loop whose thread runs it
     * @param buffers of the loop
     * @param clients makes what runs its requests
     * @param gone told when nothing else will happen
     */
    StreamChannel(
            EventLoop loop,
            LoopBuffers buffers,
            Function<? super ClientChannel, ? extends ClientHandler> clients,
            Consumer<? super StreamChannel> gone) {
        this.loop = loop;
        this.buffers = buffers;
        this.gone = gone;
        output = new StreamOutput(buffers);
        end = loop.careful(this::end);
        handler = clients.apply(this);
    }

    /**
     * Takes an accepted connection; if that fails, the socket is closed, and the caller closes this.
     *
     * @param tls null for bytes in the clear
     */
    void adopt(EventLoop.PendingSocket pending, @Nullable TlsPort tls) throws IOException {
        StreamSocket adopted =
                tls == null ? loop.adopt(pending, this) : new TlsSocket(loop, pending, buffers.records(), tls, this);
        socket = adopted;
        local = adopted.localAddress();
    }

    private StreamSocket socket() {
        StreamSocket adopted = socket;
        if (adopted == null) {
            throw new IllegalStateException("not connected");
        }
        return adopted;
    }

    // ---- events

    @Override
    public void ready(boolean mayWrite) {
        if (closed) {
            return;
        }
        try {
            if (!opened) {
                opened = true;
                handler.opened();
            }
            if (mayWrite) {
                full = false;
                send(false);
                tellProgress();
            }
            receive();
        } catch (IOException | RuntimeException | Error e) {
            fail(e);
        }
    }

    @Override
    public void sentLater() {
        if (closed || !later) {
            return;
        }
        try {
            offerDone();
            send(false);
            tellProgress();
            if (full && !closed) {
                handler.unsent();
            }
        } catch (IOException | RuntimeException | Error e) {
            fail(e);
        }
    }

    /** Ends it, and says why. */
    void fail(Throwable cause) {
        try {
            handler.failed(cause);
        } finally {
            close();
        }
    }

    // ---- input

    private void receive() throws IOException {
        boolean any = false;
        long bytes = 0;
        boolean more = true;
        for (int i = 0; more && mayReceive() && i < MOST_RECEIVES; i++) {
            ByteBuf input = buffers.input();
            int received = socket().receive(input.memoryAddress(), input.capacity());
            if (received < 0) {
                inputEnded = true;
                socket().pause();
                handler.inputEnded();
                break;
            }
            if (received > 0) {
                any = true;
                bytes += received;
                hand(input, received);
            }
            // Fewer than asked for: an event tells of the rest, unless the socket says that none will.
            more = received == input.capacity() || (received > 0 && !closed && socket().hasMore());
        }
        if (mayReceive()) {
            socket().receiveAhead(bytes < LARGE_BYTES);
            if (more) {
                socket().rearm();
            }
        }
        if (any && !closed) {
            handler.receivedAll();
        }
    }

    private boolean mayReceive() {
        return reading && !inputEnded && !closed;
    }

    private void hand(ByteBuf input, int received) {
        arriving = input;
        try {
            handler.received(input.internalNioBuffer(0, received));
        } finally {
            if (arriving != null) {
                kept.addLast(arriving);
                arriving = null;
                buffers.keep(input);
            }
        }
    }

    @Override
    public void releaseInput() {
        if (!kept.isEmpty()) {
            buffers.keptDone(kept.removeFirst());
        } else if (arriving != null) {
            arriving = null;
        } else {
            throw new IllegalStateException("there is no input to release");
        }
    }

    @Override
    public void reading(boolean on) {
        if (on == reading || closed) {
            return;
        }
        reading = on;
        if (!on) {
            socket().pause();
        } else if (!inputEnded) {
            socket().rearm();
        }
    }

    // ---- output

    @Override
    public ByteBuffer buffer(int length) {
        if (filling != null) {
            throw new IllegalStateException("there is a buffer that was neither sent nor dropped");
        }
        ByteBuf made = buffers.output(length);
        filling = made;
        view = made.internalNioBuffer(0, made.capacity());
        viewStart = view.position();
        return view;
    }

    @Override
    public void sendBuffer() {
        ByteBuf filled = filling;
        if (filled == null) {
            throw new IllegalStateException("there is no buffer to send");
        }
        if (closed) {
            dropBuffer();
            return;
        }
        output.add(filled, view.position() - viewStart);
        filling = null;
        writable &= !output.isHigh();
    }

    @Override
    public void dropBuffer() {
        ByteBuf dropped = filling;
        if (dropped != null) {
            filling = null;
            buffers.outputDone(dropped);
        }
    }

    @Override
    public void send(ByteBuffer bytes, Runnable done) {
        if (closed) {
            done.run();
            return;
        }
        try {
            output.add(bytes, done);
        } catch (Error e) {
            done.run();
            throw e;
        }
        writable &= !output.isHigh();
    }

    @Override
    public void flush() {
        flush(false);
    }

    @Override
    public void flushNow() {
        flush(true);
    }

    private void flush(boolean now) {
        if (closed) {
            return;
        }
        try {
            if (now && later) {
                offerDone();
            }
            send(now);
            tellProgress();
        } catch (IOException e) {
            fail(e);
        }
    }

    /** What was to go at the end of the turn has gone, or goes now. */
    private void offerDone() throws IOException {
        later = false;
        taken(socket().gathered());
    }

    /** Sends at the end of the turn, or at once if that is wanted, if there is much to send, or no turn. */
    private void send(boolean now) throws IOException {
        while (!later && !full && !closed && !output.isEmpty()) {
            int count = output.offer();
            later = !now && output.isShort() && socket().gatherLater(output.vectors(), count);
            if (!later) {
                taken(socket().gather(output.vectors(), 0, count));
            }
        }
    }

    private void taken(long sent) {
        if (!output.taken(sent)) {
            full = true;
            socket().awaitRoom();
        }
    }

    private void tellProgress() {
        while (output.isEmpty() && !whenSent.isEmpty()) {
            whenSent.removeFirst().run();
        }
        if (!writable && !closed && output.isLow()) {
            writable = true;
            handler.writable();
        }
    }

    @Override
    public boolean isWritable() {
        return writable;
    }

    @Override
    public boolean isSent() {
        return output.isEmpty() || (later && output.isShort());
    }

    @Override
    public void whenSent(Runnable task) {
        if (output.isEmpty()) {
            task.run();
        } else {
            whenSent.addLast(task);
        }
    }

    @Override
    public long pendingBytes() {
        return closed ? -1 : output.bytes();
    }

    // ---- the rest

    @Override
    public @Nullable SocketAddress localAddress() {
        return local;
    }

    @Override
    public @Nullable SocketAddress remoteAddress() {
        StreamSocket adopted = socket;
        return adopted == null ? null : adopted.remoteAddress();
    }

    @Override
    public void execute(Runnable task) {
        loop.execute(task);
    }

    @Override
    public void nextTurn(Runnable task) {
        EventLoop.Cancellable ignored = loop.schedule(task, 0, TimeUnit.NANOSECONDS); // tasks run until none is left
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        try {
            StreamSocket adopted = socket;
            if (adopted != null) {
                adopted.close(); // first: what was to go at the end of the turn is sent from its memory now
            }
            output.drop();
            tellProgress();
        } finally {
            endLater();
        }
    }

    private void endLater() {
        try {
            loop.execute(end);
        } catch (RuntimeException | Error e) { // the loop is over, or there is no memory for its task
            end.run();
        }
    }

    /** Tells the handler, later than what it does now. */
    private void end() {
        try {
            if (opened) {
                handler.ended();
            }
        } finally {
            try {
                handler.release();
            } finally {
                giveBack();
                gone.accept(this);
            }
        }
    }

    /** What a handler has that failed. */
    private void giveBack() {
        dropBuffer();
        while (!kept.isEmpty()) {
            releaseInput();
        }
    }
}
