package org.softrdma.bench.message;

import java.net.InetSocketAddress;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * SENDs that are answered by a SEND of the same bytes, as a store answers requests. One answer in {@link #VERIFY_INTERVAL} fills a
 * RECV whose memory was spoilt before, and is compared byte by byte.
 *
 * <p>Answers come in the order of their SENDs, so the n-th SEND of a connection is answered into its n-th RECV, which is in slot n
 * modulo the window. Its bytes are the pattern from a place that follows from n.
 */
public final class SendLoad extends MessageLoad {
    /** SENDs that were not signalled keep their places in the queue until a later one that was is polled. */
    private static final int LEAST_SENDS = 64;

    private static final int SENDS_PER_WINDOW = 4;
    /** Bytes from where the pattern of one SEND begins to where that of the next does. */
    private static final int PHASE_BYTES = 16;
    /** No divisor of a window that is a power of two, so that a slot does not get what it already holds. */
    private static final int PHASES = 15;

    private final int window;
    private final long size;
    private final int signalInterval;
    private final long[] sent;
    private final long[] answered;
    private final long[] receives;

    private SendLoad(VerbsDevice device, int connections, int window, long size) {
        super(device, connections, window, window, size, window + sends(window));
        this.window = window;
        this.size = size;
        signalInterval = sends(window) / SENDS_PER_WINDOW;
        sent = new long[connections];
        answered = new long[connections];
        receives = new long[connections];
    }

    private static int sends(int window) {
        return Math.max(LEAST_SENDS, SENDS_PER_WINDOW * window);
    }

    /**
     * Connects a load for one window and size, which it tells an {@link EchoResponder} in its private data.
     *
     * @param device the device, not closed by this
     * @param responder where the responder listens
     * @param connections how many connections
     * @param window SENDs outstanding per connection
     * @param size bytes of a SEND
     */
    public static SendLoad connect(
            VerbsDevice device, InetSocketAddress responder, int connections, int window, long size) {
        SendLoad load = new SendLoad(device, connections, window, size);
        try {
            for (int i = 0; i < connections; i++) {
                load.connect(
                        device,
                        responder,
                        QueuePairLimits.of(sends(window), window),
                        new ConnectionParameters(1, 1, new EchoTerms(window, size).encode()));
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
            spoil(connection, slot, size);
        }
        require(queuePair(connection).postReceive(connection, region(), slotOffset(connection, slot), size));
    }

    @Override
    void begin(int runWindow, long runSize) {
        if (runWindow != window || runSize != size) {
            throw new IllegalArgumentException("window=" + runWindow + ", size=" + runSize
                    + ": the load was made for exactly " + window + ", " + size);
        }
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

    private static boolean isVerified(long number) {
        return number % VERIFY_INTERVAL == 0;
    }

    @Override
    void take(WorkCompletion completion, boolean mayPost) {
        if (!completion.opcode().isReceive()) {
            return;
        }
        int connection = (int) completion.wrId();
        if (completion.byteLength() != size) {
            throw new MeasurementException(
                    "a SEND of " + size + " bytes was answered by " + completion.byteLength() + " bytes");
        }
        long number = answered[connection]++;
        if (isVerified(number)) {
            verify(connection, (int) (number % window), size, patternOffset(number));
        }
        done(1);
        postReceive(connection);
        if (mayPost) {
            send(connection);
        }
    }
}
