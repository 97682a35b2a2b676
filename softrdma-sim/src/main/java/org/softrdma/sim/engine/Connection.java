package org.softrdma.sim.engine;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.softrdma.sim.memory.AccessResult;
import org.softrdma.sim.memory.NativeMemory;
import org.softrdma.sim.queue.InboundReadQueue;
import org.softrdma.sim.queue.OutboundReadQueue;
import org.softrdma.sim.transport.AddressText;
import org.softrdma.sim.transport.EventLoop;
import org.softrdma.sim.transport.FaultLog;
import org.softrdma.sim.transport.HostSilentException;
import org.softrdma.sim.transport.IoVectors;
import org.softrdma.sim.transport.SocketEvents;
import org.softrdma.sim.transport.StreamSocket;
import org.softrdma.sim.wire.Ddp;
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
public final class Connection implements SocketEvents {
    private static final Logger LOG = LoggerFactory.getLogger(Connection.class);

    /** How often an initiator repeats that it is ready. */
    private static final int READY_REPEATS = 5;

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

    private final RnicEngine engine;
    private final AtomicBoolean rung = new AtomicBoolean();
    private final Runnable doorbellTask;

    private State state = State.HANDSHAKE;
    private @Nullable StreamSocket socket;
    private @Nullable Handshake handshake;
    private @Nullable SoftQueuePair queuePair;
    private @Nullable InboundStream inbound;
    private @Nullable OutboundStream outbound;
    private InboundReadQueue inboundReads = new InboundReadQueue(1);
    private OutboundReadQueue outboundReads = new OutboundReadQueue(0);
    private EventLoop.@Nullable Cancellable endTimer;
    private EventLoop.@Nullable Cancellable readyTimer;
    private int readyRepeats;
    private boolean terminateStaged;
    private boolean terminateSent;
    private boolean firstSegmentSeen;
    private boolean lookingAgain;
    /** A segment has come since it was asked whether the peer's host is silent. */
    private boolean heard;

    /** A connection on an engine, not connected yet. Any thread. */
    public Connection(RnicEngine engine) {
        this.engine = engine;
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
    void executeLater(Runnable step) {
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
        socket = newSocket;
        engine.connections().opened(this);
    }

    /** The queue pair that posts to it. The application's thread that makes it, before anything is posted. */
    void attach(SoftQueuePair newQueuePair) {
        queuePair = newQueuePair;
    }

    /** True until the handshake has succeeded, failed or been given up. */
    boolean isInHandshake() {
        return state == State.HANDSHAKE;
    }

    /** Sends a handshake frame. */
    void sendFrame(MpaFrame frame) throws IOException {
        byte[] bytes = frame.encode();
        long at = engine.receiveAddress();
        NativeMemory.put(at, bytes);
        if (sendNow(at, bytes.length) != bytes.length) {
            throw new IOException("the socket has no room for a handshake frame of " + bytes.length + " bytes");
        }
    }

    private long sendNow(long address, int length) throws IOException {
        IoVectors vectors = engine.batch().vectors();
        vectors.set(0, address, length);
        StreamSocket current = socket;
        return current == null ? 0 : current.gather(vectors, 0, 1);
    }

    /**
     * The handshake is through: FPDUs from now on.
     *
     * @param stream what was agreed
     * @param active this side initiated
     */
    void startStream(SoftQueuePair pair, NegotiatedStream stream, boolean active) {
        StreamSocket current = socket;
        if (current == null) {
            throw new IllegalStateException("no socket");
        }
        inboundReads = new InboundReadQueue(stream.ird());
        outboundReads = new OutboundReadQueue(stream.ord());
        OutboundStream out = new OutboundStream(engine, this, current, pair, stream);
        InboundStream in = new InboundStream(engine, this, current, pair, stream);
        inbound = in;
        outbound = out;
        state = State.STREAM;
        engine.counters().increment(Counter.CONNECTIONS_ESTABLISHED);
        if (!active && stream.peerToPeer()) {
            in.expectReadyToReceive();
        }
        if (active) {
            // The initiator speaks first (RFC 5044 section 7.1.2), peer-to-peer by a zero-length WRITE.
            if (stream.peerToPeer()) {
                out.sendReadyToReceive();
            }
            out.allowRequests();
            startReadyTimer();
        }
        continueLater();
    }

    /**
     * For a peer that may have missed what came right behind its reply (Linux's siw, docs/reference/wire.md): a WRITE of
     * no bytes makes it look again and changes nothing (RFC 5040 section 5.1; RFC 5041 section 5.2: its STag is not checked). Each wait is twice the one
     * before.
     */
    private void startReadyTimer() {
        long firstNs = engine.limits().readyRepeatNs();
        if (firstNs > 0 && readyRepeats < READY_REPEATS) {
            readyTimer = schedule(this::repeatReady, firstNs << readyRepeats);
            readyRepeats++;
        }
    }

    private void repeatReady() {
        if (state == State.STREAM && !firstSegmentSeen && outbound != null) {
            outbound.sendReadyToReceive();
            continueLater();
            startReadyTimer();
        }
    }

    InboundReadQueue inboundReads() {
        return inboundReads;
    }

    OutboundReadQueue outboundReads() {
        return outboundReads;
    }

    // ---- events

    @Override
    public void ready(boolean writable) {
        engine.favourite().event(this);
        handle(writable ? Cause.INPUT_OR_ROOM : Cause.INPUT);
    }

    /** Tries without an event: receives what may be there. */
    void attempt() {
        if (state == State.STREAM) {
            handle(Cause.INPUT);
        }
    }

    /** What was received may have ended at a page that is gone: tries again later, without an event. */
    void lookAgain() {
        if (!lookingAgain) {
            lookingAgain = true;
            engine.secondLook().add(this);
        }
    }

    void secondLook() {
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
                case LINGERING -> discard();
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
        InboundStream in = inbound;
        OutboundStream out = outbound;
        if (in == null || out == null) {
            return;
        }
        if (cause == Cause.INPUT_OR_ROOM) {
            out.writable();
        }
        boolean more = false;
        if (state == State.ENDING) {
            discard();
        } else if (cause != Cause.DOORBELL) {
            more = in.receive();
        }
        if (state == State.STREAM || state == State.ENDING) {
            more |= out.transmit();
        }
        if (state == State.ENDING && out.isIdle() && !terminateStaged) {
            finish();
        }
        if (more) {
            continueLater();
        }
    }

    /** Comes back after the other connections had their turn: as an event of the next look at all sockets. */
    private void continueLater() {
        StreamSocket current = socket;
        if (current != null) {
            current.rearm();
        }
    }

    private void discard() throws IOException {
        StreamSocket current = socket;
        if (current == null) {
            return;
        }
        int room = engine.limits().receiveBuffer();
        int received = current.receive(engine.receiveAddress(), room);
        if (received > 0 && (received == room || current.isHungUp())) {
            continueLater();
        }
        if (received < 0) {
            // The peer has ended its side too; in ENDING it may still read what we send.
            current.pause();
            if (state == State.LINGERING) {
                close();
            }
        }
    }

    /** A request was posted. Any thread; in manual mode the owner. */
    void ring() {
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

    /** Handles what was posted since the last doorbell. */
    void doorbell() {
        rung.set(false);
        SoftQueuePair pair = queuePair;
        if (pair != null && pair.isInError()) {
            run(pair::flush);
        } else if (state == State.STREAM) {
            handle(Cause.DOORBELL);
        }
    }

    // ---- from the streams

    boolean isReceiving() {
        return state == State.STREAM;
    }

    /** A whole segment has come. The first one lets the passive side speak (RFC 5044 section 7.1.2). */
    void segmentReceived() {
        heard = true;
        if (!firstSegmentSeen) {
            firstSegmentSeen = true;
            if (readyTimer != null) {
                readyTimer.cancel();
            }
            if (outbound != null) {
                outbound.allowRequests();
            }
            if (handshake != null) {
                handshake.firstSegment();
            }
        }
    }

    /** A WRITE or SEND has gone to TCP. */
    void requestSent(long sequence) {
        SoftQueuePair pair = queuePair;
        if (pair != null && !pair.isInError()) {
            pair.sendQueue().complete(sequence);
        }
    }

    void endOfStream() {
        boolean boundary = inbound == null || inbound.isAtBoundary();
        endStream(boundary ? NORMAL_END : "the peer closed the connection in the middle of a message", -1, null, 0);
        finishWhenIdle();
    }

    /** The peer may still read responses to what it asked before its end (RFC 5041 section 6.2.1). */
    private void finishWhenIdle() {
        if (outbound == null || outbound.isIdle()) {
            finish();
        } else {
            startEndTimer();
            continueLater();
        }
    }

    /**
     * This side ends the stream because of what the peer sent.
     *
     * @param cause why
     * @param segment FPDU of the segment that was wrong, its header complete, or 0
     */
    void terminate(TerminateCause cause, long segment) {
        if (state == State.STREAM && outbound != null) {
            outbound.terminate(cause, segment);
            String reason = "terminated the peer's stream: " + cause.text();
            LOG.info("{}: {}", peer(), reason);
            endStream(reason, -1, null, cause.code());
            startEndTimer();
            continueLater();
        }
    }

    /** For people. */
    private String peer() {
        StreamSocket current = socket;
        return current == null ? "a peer that is gone" : AddressText.of(current.remoteAddress());
    }

    boolean isTerminateSent() {
        return terminateStaged || terminateSent;
    }

    void terminateStaged(boolean staged) {
        terminateStaged = staged;
    }

    void terminateSent() {
        terminateSent = true;
        finish();
    }

    /** The peer used a key, range or right that it does not have; what it did so ends the stream. */
    void accessRefused() {
        engine.counters().increment(Counter.ACCESS_ERRORS);
        SoftQueuePair pair = queuePair;
        if (pair != null) {
            pair.accessRefused();
        }
    }

    /**
     * A READ of the peer cannot be answered (any more).
     *
     * @param sequence of the inbound READ queue, where its cursor is
     * @param result what the check said
     * @param sent bytes of the response sent already
     */
    void refuseRead(long sequence, AccessResult result, long sent) {
        int slot = inboundReads.slot(sequence);
        accessRefused();
        MemorySegment request = engine.memory().allocate(Ddp.READ_REQUEST_END, Long.BYTES);
        try {
            // RFC 5040 section 4.8: the READ request is updated to where the operation stands.
            Ddp.putReadRequest(
                    request.address(),
                    inboundReads.msn(slot),
                    inboundReads.sinkStag(slot),
                    inboundReads.sinkOffset(slot) + sent,
                    (int) (inboundReads.length(slot) - sent),
                    inboundReads.sourceStag(slot),
                    inboundReads.sourceOffset(slot) + sent);
            inboundReads.truncate();
            if (state == State.STREAM) {
                terminate(AccessCauses.readRequest(result), request.address());
            }
        } finally {
            Reference.reachabilityFence(request);
        }
    }

    /** A local buffer of a send work request is wrong: everything before it is through, now it fails. */
    void localProtectionError(long sequence) {
        if (state == State.STREAM && outbound != null) {
            outbound.terminate(TerminateCause.LOCAL_CATASTROPHIC, 0);
            endStream("a local buffer was not accessible", sequence, CompletionStatus.LOCAL_PROTECTION_ERROR, 0);
            startEndTimer();
            continueLater();
        }
    }

    /** The buffer of a request was deregistered when part of its segment had gone: no Terminate can follow. */
    void bufferGone(long sequence) {
        discardUnsent();
        endStream("a local buffer was deregistered", sequence, CompletionStatus.LOCAL_PROTECTION_ERROR, 0);
        release(false);
    }

    /**
     * The peer has terminated the stream.
     *
     * @param code layer, type and code
     * @param readMsn message sequence number of the READ request it is about, 0 if it is not about one
     */
    void terminated(int code, int readMsn) {
        long culprit = readMsn == 0 ? -1 : outboundReads.ofMsn(readMsn);
        String reason = "the peer terminated the stream: " + Terminate.describe(code);
        LOG.info("{}: {}", peer(), reason);
        endStream(reason, culprit, AccessCauses.status(code), code);
        finish();
    }

    // ---- the end

    /** The application ends the connection. */
    void disconnect(String reason) {
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

    /** The application has destroyed the queue pair: nothing of it is touched any more. */
    void queuePairClosed() {
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
        if (outbound != null) {
            outbound.abandonResponses();
        }
        if (state == State.ENDING) {
            if (outbound != null && outbound.isMidSegment()) {
                close();
            } else {
                finishWhenIdle();
            }
        }
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
        long at = engine.receiveAddress();
        int ulpdu = Terminate.put(at, cause, 0);
        NativeMemory.clear(at + Short.BYTES + ulpdu, Ddp.trailerLength(ulpdu));
        if (crc) {
            engine.crc().put(engine.receiveView(), at, at, ulpdu);
        }
        sendNow(at, Ddp.fpduLength(ulpdu));
        engine.counters().increment(Counter.TERMINATES_SENT);
        finish();
    }

    /** Flushes the queue pair; the socket is left to the caller. */
    private void endStream(String reason, long culprit, @Nullable CompletionStatus status, int vendorCode) {
        if (outbound != null) {
            // If this fails, the state is what it was, and broken() flushes.
            outbound.abandonRequests();
        }
        state = State.ENDING;
        engine.counters().increment(Counter.CONNECTIONS_CLOSED);
        SoftQueuePair pair = queuePair;
        if (pair != null) {
            pair.enterError(reason, culprit, status == null ? CompletionStatus.FLUSHED : status, vendorCode);
        }
        if (handshake != null) {
            handshake.streamEnded(reason);
        }
    }

    /** Ends this side of the TCP connection; waits a bounded time for the peer to end its own. */
    private void finish() {
        StreamSocket current = socket;
        if (current == null || (outbound != null && outbound.isMidSegment())) {
            close();
            return;
        }
        state = State.LINGERING;
        current.shutdownOutput();
        startEndTimer();
        continueLater();
    }

    private void startEndTimer() {
        if (endTimer == null) {
            endTimer = schedule(this::close, engine.limits().lingerTimeoutNs());
            engine.connections().ending(this);
        }
    }

    /** True if the stream's peer cannot be reached any more, nor its host. */
    boolean isHostSilent() {
        boolean was = heard;
        heard = false;
        StreamSocket current = socket;
        return !was && state == State.STREAM && current != null && current.isHostSilent();
    }

    /** The peer's host has not answered within the host timeout. */
    void hostSilent() {
        run(() -> hostSilent("by what the kernel knows of the connection"));
    }

    /** Whoever waits for the peer learns it as from hardware: the oldest request has failed, the others are flushed. */
    private void hostSilent(@Nullable String detail) {
        long timeoutNs = engine.limits().hostTimeoutNs();
        double seconds = timeoutNs / (double) TimeUnit.SECONDS.toNanos(1);
        String time = timeoutNs == 0 ? "" : String.format(Locale.ROOT, " for %.1f s", seconds);
        String reason = "the host of " + peer() + " did not answer" + time + " (" + detail + ")";
        if (state == State.STREAM) {
            engine.counters().increment(Counter.SILENT_HOSTS);
            LOG.info("{}", reason);
            SoftQueuePair pair = queuePair;
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
        SoftQueuePair pair = queuePair;
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

    private void discardParts() {
        if (inbound != null) {
            inbound.discard();
        }
        discardUnsent();
    }

    private void discardUnsent() {
        if (outbound != null) {
            outbound.discard();
        }
    }

    /** Closes the socket at once. */
    void close() {
        leave(false);
    }

    /** Closes so that the peer sees a reset: nobody waits for what it still has to say. */
    void abort() {
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
        StreamSocket current = socket;
        socket = null;
        if (current != null && reset) {
            current.abort();
        } else if (current != null) {
            current.close();
        }
        discardParts();
        cancel(endTimer);
        cancel(readyTimer);
    }

    private static void cancel(EventLoop.@Nullable Cancellable timer) {
        if (timer != null) {
            timer.cancel();
        }
    }
}
