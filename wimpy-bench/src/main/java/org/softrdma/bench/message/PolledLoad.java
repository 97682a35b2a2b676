package org.softrdma.bench.message;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * Short WRITEs that are answered by WRITEs of one size, {@link PolledSlots}: a server that polls its memory, and a client that does so
 * too. Requests are inline and hardly ever signalled, as HERD's are. One answer in {@link #VERIFY_INTERVAL} comes to a slot that was
 * spoilt before, and is compared byte by byte.
 */
public final class PolledLoad extends MessageLoad {
    /** An answer has a multiple of so many bytes, and ends with a word that is polled. */
    public static final int WORD = Long.BYTES;

    /** Bytes of the shortest answer: something, and that word. */
    public static final int LEAST_ANSWER = 2 * WORD;

    private final int window;
    private final long answer;
    private final int places;
    private final int signalInterval;
    private final long[] asked;
    private final long[] answered;
    private final List<RemoteRegion> requests = new ArrayList<>();

    private PolledLoad(VerbsDevice device, int connections, int window, long answer) {
        // A slot more, in which requests are made.
        super(
                device,
                connections,
                window + 1,
                window,
                answer,
                sends(window),
                EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.POLLED));
        this.window = window;
        this.answer = answer;
        places = EchoConnection.slots(window, answer);
        signalInterval = signalInterval(window);
        asked = new long[connections];
        answered = new long[connections];
    }

    /**
     * Connects a load for one window and size.
     *
     * @param device not closed by this, with the feature ORDERED_PLACEMENT, as the responder's
     * @param responder where an {@link EchoResponder} listens that spins
     * @param connections how many connections
     * @param window requests outstanding per connection
     * @param answer bytes of an answer, a multiple of {@link #WORD} from {@link #LEAST_ANSWER}
     * @throws IllegalArgumentException if the size is not
     */
    public static PolledLoad connect(
            VerbsDevice device, InetSocketAddress responder, int connections, int window, long answer) {
        if (!device.capabilities().has(Feature.ORDERED_PLACEMENT)) {
            throw new MeasurementException("the device lacks the feature ORDERED_PLACEMENT: without it nobody can"
                    + " poll memory for WRITEs");
        }
        if (answer < LEAST_ANSWER || answer % WORD != 0) {
            throw new IllegalArgumentException("an answer of " + answer + " bytes: expected a multiple of " + WORD
                    + " from " + LEAST_ANSWER + ", because the last word is polled");
        }
        PolledLoad load = new PolledLoad(device, connections, window, answer);
        try {
            for (int i = 0; i < connections; i++) {
                RemoteRegion answers = new RemoteRegion(
                        load.region().address() + load.slotOffset(i, 0),
                        window * answer,
                        load.region().rkey());
                EchoTerms terms = new EchoTerms(window, PolledSlots.REQUEST, answer, Optional.of(answers));
                byte[] welcome = load.connect(
                        device,
                        responder,
                        new QueuePairLimits(sends(window), 1, 1, 1, (int) PolledSlots.REQUEST),
                        new ConnectionParameters(1, 1, terms.encode()));
                load.requests.add(requests(welcome, window));
            }
            return load;
        } catch (RuntimeException e) {
            load.close();
            throw e;
        }
    }

    private static RemoteRegion requests(byte[] welcome, int window) {
        RemoteRegion region;
        try {
            region = EchoTerms.decodeRegion(welcome);
        } catch (IllegalArgumentException e) {
            throw new MeasurementException("the responder does not say where requests go: " + e.getMessage(), e);
        }
        if (region.length() < window * PolledSlots.REQUEST_SLOT) {
            throw new MeasurementException("the responder has " + region.length() + " bytes for requests: expected "
                    + window * PolledSlots.REQUEST_SLOT);
        }
        return region;
    }

    @Override
    void prepare(int connection) {
        // Memory is ready for answers.
    }

    @Override
    void begin(int runWindow, long runSize) {
        requireExactly(window, runWindow, answer, runSize);
    }

    @Override
    void fill(int connection) {
        for (int i = 0; i < window; i++) {
            ask(connection);
        }
    }

    private void ask(int connection) {
        long number = ++asked[connection];
        int slot = PolledSlots.slot(number, window);
        if (isVerified(number - 1)) {
            spoil(connection, slot, answer);
        }
        long at = slotOffset(connection, window);
        PolledSlots.put(segment(), at, number);
        RemoteRegion to = requests.get(connection);
        int signalled = number % signalInterval == 0 ? SendFlags.SIGNALLED : 0;
        require(queuePair(connection)
                .postWrite(
                        connection,
                        region(),
                        at,
                        PolledSlots.REQUEST,
                        to.address() + slot * PolledSlots.REQUEST_SLOT,
                        to.rkey(),
                        SendFlags.INLINE | signalled));
        posted(1);
    }

    @Override
    int look(boolean mayPost) {
        int taken = 0;
        for (int i = 0; i < connections(); i++) {
            while (answered[i] < asked[i] && isThere(i, answered[i] + 1)) {
                answered[i]++;
                taken++;
                done(1);
                if (mayPost) {
                    ask(i);
                }
            }
        }
        return taken;
    }

    private boolean isThere(int connection, long number) {
        int slot = PolledSlots.slot(number, window);
        if (!PolledSlots.has(segment(), slotOffset(connection, slot) + answer - WORD, number)) {
            return false;
        }
        if (isVerified(number - 1)) {
            verify(connection, slot, answer - WORD, PolledSlots.phase(PolledSlots.slot(number, places)));
        }
        return true;
    }

    @Override
    void take(WorkCompletion completion, boolean mayPost) {
        // A request was sent, and with it those before: their places in the queue are free.
    }
}
