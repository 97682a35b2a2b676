package org.softrdma.bench.message;

import java.io.InputStream;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.softrdma.bench.measurement.Completions;
import org.softrdma.bench.read.ControlLines;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A minimal request server: answers SENDs by SENDs, from the memory of the RECV that a request filled, or WRITEs by WRITEs, in
 * memory that both ends poll, as each connection's terms say. Says on its output {@code LISTENING port}, {@code MEMORY 0 0 0} and
 * {@code READY}, and obeys {@link ControlLines}.
 *
 * <p>The calling thread accepts, polls, answers, and drives a manual device. It is asleep while there is nothing to do, with threads
 * of the device on a completion channel, unless it was told to spin: then it takes WRITEs too.
 */
public final class EchoResponder {
    private static final int BACKLOG = 64;
    private static final int ENTRIES = 1 << 16;
    private static final int COMPLETIONS_PER_POLL = 256;
    /** A connection may wait so long for its acceptance; also until the end of the input is noticed. */
    private static final long WAIT_NS = TimeUnit.MILLISECONDS.toNanos(50);
    /** Turns without completions before a look at the listener, which costs a system call. */
    private static final int QUIET_TURNS = 4;

    private static final int SPINNING_QUIET_TURNS = 256;

    private final VerbsDevice device;
    private final boolean spin;
    private final ControlLines lines;
    private final ProtectionDomain domain;
    private final Completions completions;
    private final CompletionQueue queue;
    private final EchoParts parts;
    private final WorkCompletion[] polled = WorkCompletion.array(COMPLETIONS_PER_POLL);
    /** By the index in their work requests; null where one has ended. */
    private final List<@Nullable EchoConnection> connections = new ArrayList<>();

    private boolean morePolled;

    private EchoResponder(VerbsDevice device, boolean spin, PrintStream out) {
        this.device = device;
        this.spin = spin;
        lines = new ControlLines(out);
        domain = device.allocateProtectionDomain();
        completions = new Completions(device);
        queue = completions.add(ENTRIES);
        parts = new EchoParts(device, domain, queue);
    }

    /**
     * Serves until the input ends.
     *
     * @param listen where to listen
     * @param spin true to look for requests without rest, false to sleep while there are none
     * @param in control lines
     * @param out what it says
     */
    public static void run(
            VerbsDevice device, InetSocketAddress listen, boolean spin, InputStream in, PrintStream out) {
        EchoResponder responder = new EchoResponder(device, spin, out);
        try {
            responder.run(listen, in);
        } finally {
            responder.connections.forEach(connection -> {
                if (connection != null) {
                    connection.close();
                }
            });
            responder.completions.close();
            responder.domain.close();
        }
    }

    private void run(InetSocketAddress listen, InputStream in) {
        try (Listener listener = device.listen(listen, BACKLOG)) {
            lines.say("LISTENING " + listener.localAddress().getPort());
            lines.say("MEMORY 0 0 0");
            lines.say("READY");
            lines.obey(in, () -> -1, () -> {});
            int quiet = 0;
            int quietTurns = spin ? SPINNING_QUIET_TURNS : QUIET_TURNS;
            while (!lines.isEnded()) {
                int count = await();
                for (int i = 0; i < count; i++) {
                    take(polled[i]);
                }
                if (spin) {
                    look();
                }
                quiet = count == 0 ? quiet + 1 : 0;
                if (quiet >= quietTurns) {
                    quiet = spin ? 0 : quiet;
                    listener.next(0).ifPresent(this::accept);
                }
            }
        }
    }

    /** Waits for completions, and in manual progress drives the device, which also sends what was posted. */
    private int await() {
        if (spin) {
            return queue.poll(polled);
        }
        if (!device.manualProgress()) {
            return completions.await(polled, false, WAIT_NS);
        }
        if (!morePolled) {
            device.progress(WAIT_NS);
        }
        int count = queue.poll(polled);
        morePolled = count == polled.length;
        return count;
    }

    private void take(WorkCompletion completion) {
        EchoConnection connection = connections.get(EchoConnection.index(completion.wrId()));
        if (connection == null || !completion.isSuccess()) {
            return; // flushed: it is closed with the next acceptance
        }
        connection.take(completion);
    }

    private void look() {
        for (int i = 0; i < connections.size(); i++) {
            EchoConnection connection = connections.get(i);
            if (connection != null) {
                connection.look();
            }
        }
    }

    private void accept(ConnectionRequest next) {
        closeEnded();
        try (ConnectionRequest request = next) {
            EchoTerms terms = EchoTerms.decode(request.privateData());
            if (terms.answers().isPresent() && !spin) {
                throw new IllegalArgumentException("WRITEs were asked for: expected a responder that spins");
            }
            requireRoom(EchoConnection.completions(terms));
            int index = connections.indexOf(null);
            if (index < 0) {
                index = connections.size();
                connections.add(null);
            }
            EchoConnection connection = terms.answers().isPresent()
                    ? PolledEcho.of(parts, request, terms, terms.answers().get(), index)
                    : SendEcho.of(parts, request, terms, index);
            connections.set(index, connection);
            request.accept(new ConnectionParameters(1, 1, connection.welcome()));
        } catch (VerbsException | IllegalArgumentException e) {
            lines.say("LOST " + e.getMessage());
        }
    }

    private void requireRoom(int completions) {
        int all = completions;
        for (EchoConnection connection : connections) {
            all += connection == null ? 0 : EchoConnection.completions(connection.terms());
        }
        if (all > ENTRIES) {
            throw new IllegalArgumentException("no room for " + completions
                    + " more completions: expected a smaller window, or fewer connections");
        }
    }

    private void closeEnded() {
        for (int i = 0; i < connections.size(); i++) {
            Optional<EchoConnection> ended =
                    Optional.ofNullable(connections.get(i)).filter(EchoConnection::isEnded);
            if (ended.isPresent()) {
                ended.get().close();
                connections.set(i, null);
            }
        }
    }
}
