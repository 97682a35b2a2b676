package org.softrdma.bench.message;

import java.net.InetSocketAddress;
import java.util.EnumSet;
import java.util.Optional;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * SENDs that are answered by a SEND, of the same bytes or of an item, as a store answers requests. One answer in {@link
 * #VERIFY_INTERVAL} fills a RECV whose memory was spoilt before, and is compared byte by byte.
 *
 * <p>Answers come in the order of their SENDs, so the n-th SEND of a connection is answered into its n-th RECV, which is in slot n
 * modulo the window. Request and answer are the pattern from a place that follows from n.
 */
public final class SendLoad extends MessageLoad {
    /** Bytes of a request that asks for an answer of another size. */
    private static final long REQUEST = Long.BYTES;
    /** Bytes from where the pattern of one SEND begins to where that of the next does. */
    private static final int PHASE_BYTES = 16;
    /** No divisor of a window that is a power of two, so that a slot does not get what it already holds. */
    private static final int PHASES = 15;

    private final int window;
    private final long size;
    private final long answer;
    private final int signalInterval;
    private final long[] sent;
    private final long[] answered;
    private final long[] receives;

    private SendLoad(VerbsDevice device, int connections, int window, long size, long answer) {
        super(
                device,
                connections,
                window,
                window,
                Math.max(size, answer),
                window + sends(window),
                EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.RECEIVE_SINK));
        this.window = window;
        this.size = size;
        this.answer = answer;
        signalInterval = signalInterval(window);
        sent = new long[connections];
        answered = new long[connections];
        receives = new long[connections];
    }

    /**
     * Connects a load of SENDs that come back as they are, for one window and size, which it tells an {@link EchoResponder} in its
     * private data.
     *
     * @param device the device, not closed by this
     * @param responder where the responder listens
     * @param connections how many connections
     * @param window SENDs outstanding per connection
     * @param size bytes of a SEND
     */
    public static SendLoad connect(
            VerbsDevice device, InetSocketAddress responder, int connections, int window, long size) {
        return connect(
                new SendLoad(device, connections, window, size, size),
                device,
                responder,
                connections,
                new EchoTerms(window, size, EchoTerms.SAME, Optional.empty()));
    }

    /**
     * Connects a load of short SENDs that ask for an answer of one size. The size of a run is that of the answer.
     *
     * @param device the device, not closed by this
     * @param responder where the responder listens: an {@link EchoResponder}, as the C program knows no sizes of answers
     * @param connections how many connections
     * @param window SENDs outstanding per connection
     * @param answer bytes of an answer
     */
    public static SendLoad asking(
            VerbsDevice device, InetSocketAddress responder, int connections, int window, long answer) {
        return connect(
                new SendLoad(device, connections, window, REQUEST, answer),
                device,
                responder,
                connections,
                new EchoTerms(window, REQUEST, answer, Optional.empty()));
    }

    private static SendLoad connect(
            SendLoad load, VerbsDevice device, InetSocketAddress responder, int connections, EchoTerms terms) {
        int window = terms.window();
        try {
            for (int i = 0; i < connections; i++) {
                load.connect(
                        device,
                        responder,
                        QueuePairLimits.of(sends(window), window),
                        new ConnectionParameters(1, 1, terms.encode()));
            }
            return load;
        } catch (RuntimeException e) {
            load.close();
            throw e;
        }
    }

    /** A RECV for each answer that may come. */
    @Override
    void prepare(int connection) {
        for (int i = 0; i < window; i++) {
            postReceive(connection);
        }
    }

    private void postReceive(int connection) {
        long number = receives[connection]++;
        int slot = (int) (number % window);
        if (isVerified(number)) {
            spoil(connection, slot, answer);
        }
        require(queuePair(connection).postReceive(connection, region(), slotOffset(connection, slot), answer));
    }

    @Override
    void begin(int runWindow, long runSize) {
        requireExactly(window, runWindow, answer, runSize);
    }

    @Override
    void fill(int connection) {
        for (int i = 0; i < window; i++) {
            send(connection);
        }
    }

    private void send(int connection) {
        long number = sent[connection]++;
        int flags = number % signalInterval == signalInterval - 1 ? SendFlags.SIGNALLED : 0;
        require(queuePair(connection).postSend(connection, region(), patternOffset(number), size, flags));
        posted(1);
    }

    private static long patternOffset(long number) {
        return number % PHASES * PHASE_BYTES;
    }

    @Override
    void take(WorkCompletion completion, boolean mayPost) {
        if (!completion.opcode().isReceive()) {
            return;
        }
        int connection = (int) completion.wrId();
        if (completion.byteLength() != answer) {
            throw new MeasurementException("a SEND of " + size + " bytes was answered by " + completion.byteLength()
                    + " bytes: expected " + answer);
        }
        long number = answered[connection]++;
        if (isVerified(number)) {
            verify(connection, (int) (number % window), answer, patternOffset(number));
        }
        done(1);
        postReceive(connection);
        if (mayPost) {
            send(connection);
        }
    }
}
