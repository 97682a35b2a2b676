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
 * Answers every SEND by a SEND of the same bytes, from the memory of the RECV that it filled: a request server at its least.
 * Says on its output {@code LISTENING port}, {@code MEMORY 0 0 0} and {@code READY}, and obeys {@link ControlLines}.
 *
 * <p>The calling thread accepts, polls, answers, and drives a manual device, asleep while there is nothing to do; with threads of the
 * device it sleeps on a completion channel.
 */
public final class EchoResponder {
    private static final int BACKLOG = 64;
    private static final int ENTRIES = 1 << 14;
    private static final int COMPLETIONS_PER_POLL = 256;
    /** A connection may wait so long for its acceptance; also until the end of the input is noticed. */
    private static final long WAIT_NS = TimeUnit.MILLISECONDS.toNanos(50);
    /** Turns without completions before a look at the listener, which costs a system call. */
    private static final int QUIET_TURNS = 4;

    private final VerbsDevice device;
    private final ControlLines lines;
    private final ProtectionDomain domain;
    private final Completions completions;
    private final CompletionQueue queue;
    private final WorkCompletion[] polled = WorkCompletion.array(COMPLETIONS_PER_POLL);
    /** By the index in their work requests; null where one has ended. */
    private final List<@Nullable EchoConnection> connections = new ArrayList<>();

    private boolean morePolled;

    private EchoResponder(VerbsDevice device, PrintStream out) {
        this.device = device;
        lines = new ControlLines(out);
        domain = device.allocateProtectionDomain();
        completions = new Completions(device);
        queue = completions.add(ENTRIES);
    }

    /**
     * Serves until the input ends.
     *
     * @param device the device
     * @param listen where to listen
     * @param in control lines
     * @param out what it says
     */
    public static void run(VerbsDevice device, InetSocketAddress listen, InputStream in, PrintStream out) {
        EchoResponder responder = new EchoResponder(device, out);
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
            while (!lines.isEnded()) {
                int count = await();
                for (int i = 0; i < count; i++) {
                    take(polled[i]);
                }
                quiet = count == 0 ? quiet + 1 : 0;
                if (quiet >= QUIET_TURNS) {
                    listener.next(0).ifPresent(this::accept);
                }
            }
        }
    }

    /** Waits for completions, and in manual progress drives the device, which also sends what was posted. */
    private int await() {
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
        if (completion.opcode().isReceive()) {
            connection.answer(completion.wrId(), completion.byteLength());
        } else {
            connection.answered();
        }
    }

    private void accept(ConnectionRequest next) {
        closeEnded();
        try (ConnectionRequest request = next) {
            EchoTerms terms = EchoTerms.decode(request.privateData());
            int index = connections.indexOf(null);
            if (index < 0) {
                index = connections.size();
                connections.add(null);
            }
            connections.set(index, EchoConnection.of(device, domain, queue, request, terms, index));
            request.accept(new ConnectionParameters(1, 1, new byte[0]));
        } catch (VerbsException | IllegalArgumentException e) {
            lines.say("LOST " + e.getMessage());
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
