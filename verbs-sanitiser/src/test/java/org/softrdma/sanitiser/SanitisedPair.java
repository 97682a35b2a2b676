package org.softrdma.sanitiser;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.softrdma.sanitiser.finding.ConnectionEnds;
import org.softrdma.sanitiser.finding.Finding;
import org.softrdma.sanitiser.finding.Findings;
import org.softrdma.sanitiser.finding.Rule;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionChannel;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;
import org.softrdma.verbs.device.VerbsProviders;

/** Two connected queue pairs of one sanitised device, and what was found. Closes everything, in reverse order. */
final class SanitisedPair implements AutoCloseable {
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);

    final Findings findings = new Findings();
    final Sanitiser sanitiser = new Sanitiser(findings);
    final VerbsDevice device = sanitiser.wrap(VerbsProviders.named("sim").open(Map.of()));
    final ProtectionDomain domain;
    final CompletionChannel responderChannel;
    final CompletionQueue requesterQueue;
    final CompletionQueue responderQueue;
    final QueuePair requester;
    final QueuePair responder;
    private final Deque<AutoCloseable> owned = new ArrayDeque<>();

    private SanitisedPair(QueuePairLimits limits, int entries) {
        owned.push(device);
        domain = own(device.allocateProtectionDomain());
        responderChannel = own(device.createCompletionChannel());
        requesterQueue = own(device.createCompletionQueue(entries));
        responderQueue = own(device.createCompletionQueue(entries, responderChannel, 0));
        try (Listener listener = device.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1);
                Connector connector = device.resolve(listener.localAddress(), TIMEOUT_NS)) {
            CompletableFuture<QueuePair> accepted = CompletableFuture.supplyAsync(
                    () -> accept(listener, QueuePairAttributes.of(responderQueue, limits)));
            requester = own(connector.createQueuePair(domain, QueuePairAttributes.of(requesterQueue, limits)));
            connector.connect(ConnectionParameters.DEFAULT, TIMEOUT_NS);
            responder = own(accepted.join());
        }
    }

    private QueuePair accept(Listener listener, QueuePairAttributes attributes) {
        try (ConnectionRequest request = listener.next(TIMEOUT_NS).orElseThrow()) {
            QueuePair accepted = request.createQueuePair(domain, attributes);
            request.accept(ConnectionParameters.DEFAULT);
            return accepted;
        }
    }

    static SanitisedPair connect() {
        return new SanitisedPair(QueuePairLimits.of(16, 16), 64);
    }

    static SanitisedPair connect(QueuePairLimits limits, int entries) {
        return new SanitisedPair(limits, entries);
    }

    <T extends AutoCloseable> T own(T resource) {
        owned.push(resource);
        return resource;
    }

    /** Registered memory of its own. */
    MemoryRegion region(long length, AccessFlag... access) {
        return own(domain.register(own(device.allocateMemory(length)).segment(), Set.of(access)));
    }

    /** Waits for the next completion. */
    WorkCompletion completion(CompletionQueue queue) {
        WorkCompletion[] one = WorkCompletion.array(1);
        long start = System.nanoTime();
        while (queue.poll(one) == 0) {
            if (System.nanoTime() - start > TIMEOUT_NS) {
                throw new AssertionError("no completion in time");
            }
            Thread.onSpinWait();
        }
        return one[0];
    }

    /** The one thing that was found. */
    Finding finding() {
        assertEquals(1, findings.list().size(), findings::toString);
        return findings.list().getFirst();
    }

    /** The one thing that was found, about this rule, by a queue pair and its peer, at a line of the test. */
    Finding finding(Rule rule, QueuePair local, QueuePair peer) {
        Finding found = finding();
        assertEquals(rule, found.rule(), found::text);
        ConnectionEnds ends = found.ends();
        assertNotNull(ends, found::text);
        assertEquals(local.number(), ends.local().number(), found::text);
        assertEquals(peer.number(), ends.peer().number(), found::text);
        assertNotNull(ends.local().address(), found::text);
        assertNotNull(ends.peer().address(), found::text);
        return found;
    }

    @Override
    public void close() {
        AssertionError failure = null;
        while (!owned.isEmpty()) {
            try {
                owned.pop().close();
            } catch (Exception e) {
                failure = failure == null ? new AssertionError("cannot close", e) : failure;
            }
        }
        if (failure != null) {
            throw failure;
        }
    }
}
