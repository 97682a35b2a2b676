package org.softrdma.sim.connection;

import java.io.IOException;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.softrdma.sim.carrier.CarrierEvents;
import org.softrdma.sim.carrier.FpduWriter;
import org.softrdma.sim.carrier.MpaInbound;
import org.softrdma.sim.carrier.MpaOutbound;
import org.softrdma.sim.carrier.Placement;
import org.softrdma.sim.carrier.StreamBuffers;
import org.softrdma.sim.engine.Counter;
import org.softrdma.sim.engine.DrivenConnection;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.memory.NativeMemory;
import org.softrdma.sim.queue.InboundReadQueue;
import org.softrdma.sim.queue.OutboundReadQueue;
import org.softrdma.sim.rdmap.RdmapStream;
import org.softrdma.sim.rdmap.StreamEndpoint;
import org.softrdma.sim.rdmap.StreamEvents;
import org.softrdma.sim.rdmap.StreamParts;
import org.softrdma.sim.transport.EventLoop;
import org.softrdma.sim.transport.FaultLog;
import org.softrdma.sim.transport.HostSilentException;
import org.softrdma.sim.transport.SocketEvents;
import org.softrdma.sim.transport.StreamSocket;
import org.softrdma.sim.wire.Ddp;
import org.softrdma.sim.wire.MessageKind;
import org.softrdma.sim.wire.MpaFrame;
import org.softrdma.sim.wire.Terminate;
import org.softrdma.sim.wire.TerminateCause;
import org.softrdma.verbs.CompletionStatus;

/**
 * One TCP connection through its life: handshake (by {@link Handshake}), stream, Terminate, end.
 *
 * <p>When a stream ends, the queue pair goes to ERROR at once and is flushed; the socket lives on for a bounded time: READ
 * responses already asked for and a Terminate still go out, then this side ends its stream and discards what comes until the
 * peer ends its own, so that no reset overtakes the Terminate (RFC 5044 section 7.2, RFC 5040 section 6.8).
 *
 * <p>Engine thread only, except {@link #ring}.
 */
public final class Connection implements SocketEvents, DrivenConnection, CarrierEvents, StreamEvents {
    private static final Logger LOG = LoggerFactory.getLogger(Connection.class);

    private static final String FAULT = "a fault in the engine";
    private static final String NORMAL_END = "the peer closed the connection";

    private enum State {
        HANDSHAKE,
        STREAM,
        /** The stream has ended here; what is left goes out. */
        ENDING,
        /** Everything went out; waiting for the peer to end its side. */
        LINGERING,
        CLOSED
    }

    /** Why the connection has a turn. */
    private enum Cause {
        INPUT,
        /** There may be room to send again, too. */
        INPUT_OR_ROOM,
        /** Something was posted. */
        DOORBELL
    }

    /**
     * An established stream.
     *
     * @param messages what it says
     * @param out how that goes
     * @param in how the peer's comes
     */
    private record Stream(RdmapStream messages, MpaOutbound out, MpaInbound in) {}

    private final RnicEngine engine;
    private final StreamBuffers buffers;
    private final ConnectionSocket socket;
    private final ReadyRepeat readyRepeat;
    private final AtomicBoolean rung = new AtomicBoolean();
    private final Runnable doorbellTask;

    private State state = State.HANDSHAKE;
    private @Nullable Handshake handshake;
    private @Nullable QueuePairEnd queuePair;
    private @Nullable Stream stream;
    private EventLoop.@Nullable Cancellable endTimer;
    private boolean firstSegmentSeen;
    private boolean lookingAgain;
    /** A segment has come since it was asked whether the peer's host is silent. */
    private boolean heard;

    /**
     * A connection on an engine, not connected yet. Any thread.
     *
     * @param engine it is pinned to
     * @param buffers of the engine
     */
    public Connection(RnicEngine engine, StreamBuffers buffers) {
        this.engine = engine;
        this.buffers = buffers;
        socket = new ConnectionSocket(engine, buffers);
        readyRepeat = new ReadyRepeat(engine.loop(), engine.limits().readyRepeatNs(), () -> run(this::repeatReady));
        doorbellTask = engine.loop().careful(this::doorbell);
    }

    /** The engine it is pinned to. */
    public RnicEngine engine() {
        return engine;
    }

    // ---- what runs on the engine's thread

    /** Runs a step of this connection: at once on the engine's thread, else soon. Any thread. */
    void execute(Runnable step) {
        engine.execute(() -> run(step));
    }

    /** Runs a step of this connection soon, in a task of its own. Any thread. */
    public void executeLater(Runnable step) {
        engine.loop().execute(() -> run(step));
    }

    /** Runs a step of this connection later. */
    EventLoop.Cancellable schedule(Runnable step, long delayNs) {
        return engine.loop().schedule(() -> run(step), delayNs, TimeUnit.NANOSECONDS);
    }

    /** What fails in a step costs this connection, and no other. */
    private void run(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException | Error e) {
            broken(e);
        }
    }

    // ---- setting up, by the handshake

    /** Who is told from now on, also if no socket comes of it. */
    void attach(Handshake newHandshake) {
        handshake = newHandshake;
    }

    void attach(StreamSocket newSocket) {
        socket.attach(newSocket);
        engine.connections().opened(this);
    }

    /** The queue pair that posts to it. The application's thread that makes it, before anything is posted. */
    public void attach(QueuePairEnd newQueuePair) {
        queuePair = newQueuePair;
    }

    /** True until the handshake has succeeded, failed or been given up. */
    boolean isInHandshake() {
        return state == State.HANDSHAKE;
    }

    /** Scratch memory for what a handshake receives. */
    long scratch() {
        return buffers.receiveAddress();
    }

    /** Sends a handshake frame. */
    void sendFrame(MpaFrame frame) throws IOException {
        socket.send(frame.encode());
    }

    /**
     * The handshake is through: FPDUs from now on.
     *
     * @param pair whose requests go
     * @param agreed what was agreed
     * @param active this side initiated
     */
    void startStream(QueuePairEnd pair, NegotiatedStream agreed, boolean active) {
        StreamSocket current = socket.require();
        Stream made = newStream(pair, agreed, current);
        stream = made;
        state = State.STREAM;
        engine.counters().increment(Counter.CONNECTIONS_ESTABLISHED);
        if (!active && agreed.peerToPeer()) {
            made.messages.expectReadyToReceive();
        }
        if (active) {
            // The initiator speaks first (RFC 5044 section 7.1.2), peer-to-peer by a zero-length WRITE.
            if (agreed.peerToPeer()) {
                made.messages.outgoing().sendReadyToReceive();
            }
            made.messages.outgoing().allowRequests();
            readyRepeat.later();
        }
        socket.continueLater();
    }

    private Stream newStream(QueuePairEnd pair, NegotiatedStream agreed, StreamSocket current) {
        StreamEndpoint endpoint = new StreamEndpoint(
                pair.sendQueue(),
                pair.receiveQueue(),
                new InboundReadQueue(agreed.ird()),
                new OutboundReadQueue(agreed.ord()),
                pair.domainNumber(),
                pair.limits().maxSendScatterGather());
        FpduWriter fpdus = new FpduWriter(buffers, engine.limits(), agreed.crc());
        Placement placement = new Placement(engine);
        RdmapStream messages = new RdmapStream(new StreamParts(engine, endpoint, this, fpdus, placement));
        MpaOutbound out = new MpaOutbound(engine, buffers, current, messages.outgoing());
        MpaInbound in = new MpaInbound(engine, buffers, current, agreed.crc(), this, messages.incoming(), placement);
        return new Stream(messages, out, in);
    }

    private void repeatReady() {
        Stream current = stream;
        if (state == State.STREAM && !firstSegmentSeen && current != null) {
            current.messages.outgoing().sendReadyToReceive();
            socket.continueLater();
            readyRepeat.later();
        }
    }

    // ---- events

    @Override
    public void ready(boolean writable) {
        engine.favourite().event(this);
        handle(writable ? Cause.INPUT_OR_ROOM : Cause.INPUT);
    }

    @Override
    public void attempt() {
        if (state == State.STREAM) {
            handle(Cause.INPUT);
        }
    }

    @Override
    public void lookAgain() {
        if (!lookingAgain) {
            lookingAgain = true;
            engine.secondLook().add(this);
        }
    }

    @Override
    public void secondLook() {
        lookingAgain = false;
        attempt();
    }

    /** One batch, guarded as {@link #run} guards a step. */
    private void handle(Cause cause) {
        engine.epoch().enter();
        try {
            switch (state) {
                case HANDSHAKE -> {
                    if (handshake != null) {
                        handshake.ready(cause == Cause.INPUT_OR_ROOM);
                    }
                }
                case STREAM, ENDING -> runStream(cause);
                case LINGERING -> discardInput();
                case CLOSED -> {
                    // A late event.
                }
            }
        } catch (HostSilentException e) {
            run(() -> hostSilent(e.getMessage()));
        } catch (IOException | RuntimeException | Error e) {
            broken(e);
        } finally {
            engine.epoch().exit();
        }
    }

    /** One turn: receive, place, answer. */
    private void runStream(Cause cause) throws IOException {
        Stream current = stream;
        if (current == null) {
            return;
        }
        if (cause == Cause.INPUT_OR_ROOM) {
            current.out.writable();
        }
        boolean more = false;
        if (state == State.ENDING) {
            discardInput();
        } else if (cause != Cause.DOORBELL) {
            more = current.in.receive();
        }
        if (state == State.STREAM || state == State.ENDING) {
            more |= current.out.transmit();
        }
        if (state == State.ENDING
                && current.out.isIdle()
                && !current.messages.outgoing().isTerminateStaged()) {
            finish();
        }
        if (more) {
            socket.continueLater();
        }
    }

    private void discardInput() throws IOException {
        // A peer that has ended its side may still read, in ENDING, what we send.
        if (socket.discard() && state == State.LINGERING) {
            close();
        }
    }

    /** A request was posted. Any thread; in manual mode the owner. */
    public void ring() {
        if (rung.compareAndSet(false, true)) {
            try {
                if (engine.isManual()) {
                    engine.ring(this);
                } else {
                    engine.loop().execute(doorbellTask);
                }
            } catch (RuntimeException | Error e) {
                rung.set(false); // the next one rings again
                throw e;
            }
        }
    }

    @Override
    public void doorbell() {
        rung.set(false);
        QueuePairEnd pair = queuePair;
        if (pair != null && pair.isInError()) {
            run(pair::flush);
        } else if (state == State.STREAM) {
            handle(Cause.DOORBELL);
        }
    }

    // ---- from the stream

    @Override
    public boolean isReceiving() {
        return state == State.STREAM;
    }

    /** The first segment lets the passive side speak (RFC 5044 section 7.1.2). */
    @Override
    public void segmentReceived() {
        heard = true;
        if (!firstSegmentSeen) {
            firstSegmentSeen = true;
            readyRepeat.cancel();
            if (stream != null) {
                stream.messages.outgoing().allowRequests();
            }
            if (handshake != null) {
                handshake.firstSegment();
            }
        }
    }

    @Override
    public void requestSent(long sequence) {
        QueuePairEnd pair = queuePair;
        if (pair != null && !pair.isInError()) {
            pair.sendQueue().complete(sequence);
        }
    }

    @Override
    public void endOfStream() {
        boolean boundary = stream == null || stream.in.isAtBoundary();
        endStream(boundary ? NORMAL_END : "the peer closed the connection in the middle of a message", -1, null, 0);
        finishWhenIdle();
    }

    /** The peer may still read responses to what it asked before its end (RFC 5041 section 6.2.1). */
    private void finishWhenIdle() {
        if (stream == null || stream.out.isIdle()) {
            finish();
        } else {
            startEndTimer();
            socket.continueLater();
        }
    }

    @Override
    public void crcWrong() {
        terminate(TerminateCause.MPA_CRC, 0);
    }

    @Override
    public void terminate(TerminateCause cause, long segment) {
        if (state == State.STREAM && stream != null) {
            queueTerminate(stream, cause, segment);
            String reason = "terminated the peer's stream: " + cause.text();
            LOG.info("{}: {}", socket.peer(), reason);
            endStream(reason, -1, null, cause.code());
            startEndTimer();
            socket.continueLater();
        }
    }

    private static void queueTerminate(Stream current, TerminateCause cause, long segment) {
        if (!current.messages.outgoing().isTerminating()) {
            abandonRequests(current);
            current.messages.outgoing().queueTerminate(cause, segment);
        }
    }

    private static void abandonRequests(Stream current) {
        current.messages.outgoing().abandonRequests();
        current.out.copyRequest();
    }

    @Override
    public void terminateSent() {
        finish();
    }

    @Override
    public void accessRefused() {
        engine.counters().increment(Counter.ACCESS_ERRORS);
        QueuePairEnd pair = queuePair;
        if (pair != null) {
            pair.accessRefused();
        }
    }

    @Override
    public void localProtectionError(long sequence) {
        if (state == State.STREAM && stream != null) {
            queueTerminate(stream, TerminateCause.LOCAL_CATASTROPHIC, 0);
            endStream("a local buffer was not accessible", sequence, CompletionStatus.LOCAL_PROTECTION_ERROR, 0);
            startEndTimer();
            socket.continueLater();
        }
    }

    @Override
    public void bufferGone(long sequence) {
        discardUnsent();
        endStream("a local buffer was deregistered", sequence, CompletionStatus.LOCAL_PROTECTION_ERROR, 0);
        release(false);
    }

    @Override
    public void terminated(int code, long culprit, CompletionStatus status) {
        String reason = "the peer terminated the stream: " + Terminate.describe(code);
        LOG.info("{}: {}", socket.peer(), reason);
        endStream(reason, culprit, status, code);
        finish();
    }

    // ---- the end

    /** The application ends the connection. */
    public void disconnect(String reason) {
        try {
            endInOrder(reason);
        } catch (RuntimeException | Error e) {
            broken(e); // as run does, but without an object for which there may be no memory
        }
    }

    private void endInOrder(String reason) {
        if (state == State.STREAM) {
            endStream(reason, -1, null, 0);
            finishWhenIdle();
        } else if (state == State.HANDSHAKE) {
            endHandshake(new IOException(reason));
            close();
        }
    }

    private void endHandshake(IOException cause) {
        if (handshake != null) {
            handshake.failed(cause);
        } else if (queuePair != null) {
            queuePair.enterError(String.valueOf(cause.getMessage()), -1, CompletionStatus.FLUSHED, 0);
        }
    }

    @Override
    public void deviceClosed() {
        disconnect("the device was closed");
        close();
    }

    /** The application has destroyed the queue pair: nothing of it is touched any more. */
    public void queuePairClosed() {
        try {
            forgetQueuePair();
        } catch (RuntimeException | Error e) {
            broken(e); // likewise
        }
    }

    private void forgetQueuePair() {
        if (state == State.STREAM) {
            endStream("the queue pair was closed", -1, null, 0);
        } else if (state == State.HANDSHAKE) {
            endHandshake(new IOException("the queue pair was closed"));
            abort();
            return;
        }
        if (stream != null) {
            stream.messages.outgoing().abandonResponses();
        }
        if (state == State.ENDING) {
            if (isMidSegment()) {
                close();
            } else {
                finishWhenIdle();
            }
        }
    }

    private boolean isMidSegment() {
        return stream != null && stream.out.isMidSegment();
    }

    /** Says no with a reply and ends. */
    void reject(MpaFrame frame) throws IOException {
        if (state == State.HANDSHAKE) {
            sendFrame(frame);
            finish();
        }
    }

    /** Refuses a reply by a Terminate and ends (RFC 6581 section 9). */
    void refuse(TerminateCause cause, boolean crc) throws IOException {
        long at = buffers.receiveAddress();
        int ulpdu = Terminate.put(at, cause, 0);
        NativeMemory.clear(at + Short.BYTES + ulpdu, Ddp.trailerLength(ulpdu));
        if (crc) {
            buffers.crc().put(buffers.receiveView(), at, at, ulpdu);
        }
        long ignored = socket.send(at, Ddp.fpduLength(ulpdu));
        engine.counters().sent(MessageKind.TERMINATE);
        finish();
    }

    /** Flushes the queue pair; the socket is left to the caller. */
    private void endStream(String reason, long culprit, @Nullable CompletionStatus status, int vendorCode) {
        if (stream != null) {
            // If this fails, the state is what it was, and broken() flushes.
            abandonRequests(stream);
        }
        state = State.ENDING;
        engine.counters().increment(Counter.CONNECTIONS_CLOSED);
        QueuePairEnd pair = queuePair;
        if (pair != null) {
            pair.enterError(reason, culprit, status == null ? CompletionStatus.FLUSHED : status, vendorCode);
        }
        if (handshake != null) {
            handshake.streamEnded(reason);
        }
    }

    /** Ends this side of the TCP connection; waits a bounded time for the peer to end its own. */
    private void finish() {
        if (!socket.isThere() || isMidSegment()) {
            close();
            return;
        }
        state = State.LINGERING;
        socket.shutdownOutput();
        startEndTimer();
        socket.continueLater();
    }

    private void startEndTimer() {
        if (endTimer == null) {
            endTimer = schedule(this::close, engine.limits().lingerTimeoutNs());
            engine.connections().ending(this);
        }
    }

    @Override
    public boolean isHostSilent() {
        boolean was = heard;
        heard = false;
        return !was && state == State.STREAM && socket.isHostSilent();
    }

    @Override
    public void hostSilent() {
        run(() -> hostSilent("by what the kernel knows of the connection"));
    }

    /** Whoever waits for the peer learns it as from hardware: the oldest request has failed, the others are flushed. */
    private void hostSilent(@Nullable String detail) {
        long timeoutNs = engine.limits().hostTimeoutNs();
        double seconds = timeoutNs / (double) TimeUnit.SECONDS.toNanos(1);
        String time = timeoutNs == 0 ? "" : String.format(Locale.ROOT, " for %.1f s", seconds);
        String reason = "the host of " + socket.peer() + " did not answer" + time + " (" + detail + ")";
        if (state == State.STREAM) {
            engine.counters().increment(Counter.SILENT_HOSTS);
            LOG.info("{}", reason);
            QueuePairEnd pair = queuePair;
            long oldest = pair == null ? -1 : pair.sendQueue().oldest();
            discardUnsent();
            endStream(reason, oldest, CompletionStatus.RETRY_EXCEEDED_ERROR, 0);
            abort();
        } else {
            broken(new IOException(reason));
        }
    }

    /** The peer takes too long for its part of the handshake, or this side cannot go on with it. */
    void giveUp(String reason) {
        if (state == State.STREAM) {
            discardUnsent();
            endStream(reason, -1, null, 0);
        }
        abort();
    }

    /**
     * The connection or this engine has failed: flushes, tells, closes, whatever else fails meanwhile. Never throws, because an
     * Error that left the engine's loop would end its thread and with it every other connection.
     */
    void broken(Throwable e) {
        boolean fault = !(e instanceof IOException);
        if (fault) {
            engine.counters().increment(Counter.ENGINE_FAULTS);
        }
        try {
            end(e);
        } catch (RuntimeException | Error again) {
            engine.counters().increment(Counter.ENGINE_FAULTS);
            flush();
        }
        try {
            release(false);
        } catch (RuntimeException | Error again) {
            engine.counters().increment(Counter.ENGINE_FAULTS);
        }
        FaultLog.tell(
                LOG,
                fault ? Level.ERROR : Level.DEBUG,
                fault ? "a fault in the engine costs this connection" : "connection broken",
                e);
    }

    /** Without a word about why. */
    private void flush() {
        QueuePairEnd pair = queuePair;
        if (pair != null) {
            pair.enterError(FAULT, -1, CompletionStatus.FLUSHED, 0);
            pair.flush();
        }
    }

    /** Requests are flushed before anything that can fail: what has gone in part is not copied, because no more of it goes. */
    private void end(Throwable e) {
        if (state == State.HANDSHAKE) {
            endHandshake(e instanceof IOException failure ? failure : new IOException(FAULT + ": " + e, e));
        } else if (state == State.STREAM) {
            discardUnsent();
            endStream(reason(e), -1, null, 0);
        }
    }

    private static String reason(Throwable e) {
        try {
            return "the connection broke: " + (e instanceof IOException ? e.getMessage() : FAULT + ": " + e);
        } catch (RuntimeException | Error again) {
            return FAULT;
        }
    }

    private void discardUnsent() {
        if (stream != null) {
            stream.messages.outgoing().abandonAll();
            stream.out.discard();
        }
    }

    /** Closes the socket at once. */
    void close() {
        leave(false);
    }

    @Override
    public void abort() {
        leave(true);
    }

    /** Whatever fails here, the socket is closed. */
    private void leave(boolean reset) {
        try {
            if (state == State.STREAM) {
                discardUnsent();
                endStream("closed", -1, null, 0);
            }
        } finally {
            release(reset);
        }
    }

    /** Gives up the socket and the timers. */
    private void release(boolean reset) {
        state = State.CLOSED;
        engine.favourite().forget(this);
        engine.connections().closed(this);
        socket.close(reset);
        if (stream != null) {
            stream.in.discard();
        }
        discardUnsent();
        if (endTimer != null) {
            endTimer.cancel();
        }
        readyRepeat.cancel();
    }
}
