package org.softrdma.testkit;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairType;
import org.softrdma.verbs.SharedReceiveQueue;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;
import org.softrdma.verbs.device.VerbsProvider;
import org.softrdma.verbs.device.VerbsProviders;

/**
 * The fixture of a case: a requester and a responder on open devices, and pairs of connected queue pairs between them.
 *
 * <p>At the end of the case it closes everything in reverse order. A case that has passed until then fails if the
 * canary no longer works (a second connection of the same devices, established before the case), if a completion is
 * unread, if an object or a connection has leaked, or if one of its threads still runs. The thread that opened the
 * nodes owns the requester's device if that is in manual progress, and every wait drives it.
 */
public final class TwoNodes {
    private static final int BACKLOG = 64;
    private static final int CANARY_BYTES = 64;
    private static final int BARRIER_BYTES = 8;
    private static final int READS = 16;
    private static final String ESTABLISHED = "connectionsEstablished";
    private static final String CLOSED = "connectionsClosed";

    private final ConformanceSettings settings;
    private final CaseEnvironment environment;
    private final Random random;
    private final CaseScope scope;
    private final List<VerbsDevice> devices = new ArrayList<>();
    private final Queue<Task<?>> tasks = new ConcurrentLinkedQueue<>();
    private final Node requester;
    private final Node responder;
    private final Listener listener;
    private final MemoryRegion barrierSink;
    private final MemoryRegion barrierSource;
    private final LoopbackPair canary;
    private final ProviderTraits traits;

    private TwoNodes(ConformanceSettings settings, int caseNumber, CaseEnvironment environment) {
        this.settings = settings;
        this.environment = environment;
        scope = new CaseScope(environment, (long) (settings.timeoutNs() * Math.max(1, settings.scale())));
        this.random = new Random(settings.seed() * 31 + caseNumber);
        try {
            VerbsDevice active = open(environment.requester(), settings.requesterOptions());
            VerbsDevice passive =
                    settings.sharedDevice() ? active : open(environment.responder(), settings.responderOptions());
            if (passive.manualProgress()) {
                throw new IllegalArgumentException("responder device " + passive.name()
                        + " is in manual progress; nobody would drive it: open it with other options");
            }
            requester = new Node(scope, "requester", active);
            responder = new Node(scope, "responder", passive);
            listener = own(passive.listen(new InetSocketAddress(settings.address(), 0), BACKLOG));
            barrierSink = requester.region(BARRIER_BYTES, AccessFlag.READ_SINK);
            barrierSource = responder.region(BARRIER_BYTES, AccessFlag.REMOTE_READ);
            canary = connect();
            traits = ProviderTraits.of(settings.bareProvider(), settings.knownName(active.name()), canary.features())
                    .with(environment.traits());
        } catch (RuntimeException | Error e) {
            closeAll().forEach(e::addSuppressed);
            throw e;
        }
    }

    /**
     * Opens the devices and connects the canary.
     *
     * @param settings settings of the run
     * @param caseNumber number of the case, goes into the seed
     */
    public static TwoNodes open(ConformanceSettings settings, int caseNumber) {
        return open(settings, caseNumber, new MachineEnvironment(VerbsProviders.named(settings.provider())));
    }

    /**
     * Opens the devices and connects the canary.
     *
     * @param settings what the run is about
     * @param caseNumber number of the case, goes into the seed
     * @param environment where it runs
     */
    public static TwoNodes open(ConformanceSettings settings, int caseNumber, CaseEnvironment environment) {
        return new TwoNodes(settings, caseNumber, environment);
    }

    /** The side that connects and posts. */
    public Node requester() {
        return requester;
    }

    /** The side that accepts. */
    public Node responder() {
        return responder;
    }

    /** Lawful differences of the provider. */
    public ProviderTraits traits() {
        return traits;
    }

    /** Settings of the run. */
    public ConformanceSettings settings() {
        return settings;
    }

    /** The provider under test, for devices beside the requester's. */
    public VerbsProvider provider() {
        return environment.requester();
    }

    /** The provider under test, for devices beside the responder's. */
    public VerbsProvider responderProvider() {
        return environment.responder();
    }

    /** Where the responder listens. */
    public InetSocketAddress responderAddress() {
        return listener.localAddress();
    }

    /** The responder's listener. Only {@link #connect} takes its requests, unless the case does. */
    public Listener listener() {
        return listener;
    }

    /** Random numbers, determined by the seed of the run and the case. */
    public Random random() {
        return random;
    }

    /** A pattern that no other call has returned. */
    public BytePattern pattern() {
        return new BytePattern(random.nextLong());
    }

    /** Limit of every wait of a case, in nanoseconds. */
    public long timeoutNs() {
        return scope.timeoutNs();
    }

    /** The protocol of the connections, for messages. */
    public String wire() {
        return canary.requester().queuePair().connectionCapabilities().wire();
    }

    /** Successful operations seen so far. */
    public long operations() {
        return scope.operations();
    }

    /**
     * Counts operations whose completions a case polled itself.
     *
     * @param count how many succeeded
     */
    public void countOperations(long count) {
        scope.countOperations(count);
    }

    /**
     * A number of iterations, scaled.
     *
     * @param count at scale 1
     * @return at least 1
     */
    public int times(int count) {
        return (int) Math.max(1, Math.round(count * settings.scale()));
    }

    /**
     * Skips the case unless it applies.
     *
     * @param applies true if it applies
     * @param reason why it does not apply
     */
    public void require(boolean applies, String reason) {
        Assumptions.assumeTrue(applies, reason);
    }

    /** Skips the case unless the connections have a feature. */
    public void require(Feature feature) {
        require(canary.features().contains(feature), "no feature " + feature);
    }

    /** Skips the case if only one thread may use the requester's device. */
    public void requireThreads() {
        require(!requester.device().manualProgress(), "in manual progress only one thread uses the device");
    }

    /**
     * Keeps something to be closed at the end of the case.
     *
     * @param resource what the case has created
     */
    public <T extends AutoCloseable> T own(T resource) {
        return scope.own(resource);
    }

    /** Connects a pair with the defaults of the API. */
    public LoopbackPair connect() {
        return connect(new ConnectionSpec());
    }

    /**
     * Connects a pair.
     *
     * @param spec how
     */
    public LoopbackPair connect(ConnectionSpec spec) {
        return connect(listener, spec);
    }

    /**
     * Connects a pair with the defaults of the API through another listener of the responder.
     *
     * @param where the listener
     */
    public LoopbackPair connect(Listener where) {
        return connect(where, new ConnectionSpec());
    }

    private LoopbackPair connect(Listener where, ConnectionSpec spec) {
        Task<Endpoint> accepting = startVirtual("accept", () -> accept(where, spec));
        try (Connector connector = requester.device().resolve(where.localAddress(), scope.timeoutNs())) {
            CompletionReader sends = spec.requesterSends();
            CompletionReader receives = spec.requesterReceives();
            Endpoint active = create(
                    requester,
                    connector::createQueuePair,
                    spec.requesterLimits(),
                    spec.isSignalAll(),
                    sends,
                    receives,
                    null);
            spec.beforeConnect().accept(active);
            byte[] reply = connector.connect(spec.requesterParameters(), scope.timeoutNs());
            active.watchDisconnection();
            return new LoopbackPair(active, accepting.get(), barrierSink, barrierSource, reply);
        } catch (RuntimeException | Error e) {
            accepting.cancel();
            throw e;
        }
    }

    private Endpoint accept(Listener where, ConnectionSpec spec) {
        try (ConnectionRequest request = where.next(scope.timeoutNs())
                .orElseThrow(() -> new AssertionError(
                        "no connection request within " + CaseScope.millis(scope.timeoutNs()) + " ms"))) {
            CompletionReader receives = spec.responderReceives();
            Endpoint passive = create(
                    responder,
                    request::createQueuePair,
                    spec.responderLimits(),
                    false,
                    null,
                    receives,
                    spec.responderShared());
            spec.beforeAccept().accept(passive);
            request.accept(spec.responderParameters());
            passive.watchDisconnection();
            return passive;
        }
    }

    private Endpoint create(
            Node node,
            QueuePairFactory factory,
            QueuePairLimits limits,
            boolean signalAll,
            @Nullable CompletionReader sharedSends,
            @Nullable CompletionReader sharedReceives,
            @Nullable SharedReceiveQueue queueOfReceives) {
        CompletionReader sends =
                sharedSends == null ? node.completions(limits.maxSendWorkRequests() * 2 + 2) : sharedSends;
        CompletionReader receives =
                sharedReceives == null ? node.completions(limits.maxReceiveWorkRequests() * 2 + 2) : sharedReceives;
        QueuePairAttributes attributes =
                new QueuePairAttributes(sends.queue(), receives.queue(), limits, signalAll, queueOfReceives, false);
        QueuePair queuePair = own(factory.create(node.domain(), attributes));
        return new Endpoint(scope, node, queuePair, sends, receives, queueOfReceives != null);
    }

    /**
     * Creates an end without a connection manager.
     *
     * @param node its side
     * @param limits sizes
     * @param type what it can do
     * @param queueKey of datagrams
     */
    public Endpoint unconnected(Node node, QueuePairLimits limits, QueuePairType type, int queueKey) {
        return create(
                node,
                (domain, attributes) -> domain.createQueuePair(new QueuePairAttributes(
                        attributes.sendCompletions(),
                        attributes.receiveCompletions(),
                        limits,
                        false,
                        null,
                        false,
                        type,
                        queueKey)),
                limits,
                false,
                null,
                null,
                null);
    }

    /**
     * Connects a pair by its addresses.
     *
     * @param type what both ends can do
     * @param limits sizes of both ends
     */
    public LoopbackPair connectByAddresses(QueuePairType type, QueuePairLimits limits) {
        Endpoint active = unconnected(requester, limits, type, 0);
        Endpoint passive = unconnected(responder, limits, type, 0);
        passive.unconnected().connect(active.unconnected().address(), READS, READS);
        active.unconnected().connect(passive.unconnected().address(), READS, READS);
        active.watchDisconnection();
        passive.watchDisconnection();
        return new LoopbackPair(active, passive, barrierSink, barrierSource, new byte[0]);
    }

    /**
     * Runs something on a platform thread.
     *
     * @param name of the thread
     * @param work what to do
     */
    public <T> Task<T> start(String name, Callable<T> work) {
        Task<T> task = new Task<>(scope, name, work);
        tasks.add(task);
        environment.start("tck-" + name, false, task.work());
        return task;
    }

    private <T> Task<T> startVirtual(String name, Callable<T> work) {
        Task<T> task = new Task<>(scope, name, work);
        tasks.add(task);
        environment.start("tck-" + name, true, task.work());
        return task;
    }

    /**
     * Waits until a condition holds, while driving a device in manual progress; fails at the deadline.
     *
     * @param what names in the message what was waited for
     * @param condition what must hold
     */
    public void await(String what, BooleanSupplier condition) {
        scope.await(what, condition);
    }

    /**
     * Goes on for a while, to let something happen that must not happen.
     *
     * @param durationNs how long
     */
    public void linger(long durationNs) {
        scope.linger(durationNs);
    }

    /** The time by which the case runs. */
    public long nanoTime() {
        return environment.nanoTime();
    }

    /**
     * Lets time pass, and drives nothing.
     *
     * @param durationNs how much
     */
    public void sleep(long durationNs) {
        environment.sleep(durationNs);
    }

    /**
     * Takes a little time.
     *
     * @param spins how often to do nothing
     */
    public void spin(int spins) {
        environment.spin(spins);
    }

    /** Skips the case where devices are not reached by sockets of this machine. */
    public void requireSockets() {
        require(environment.hasSockets(), "the case speaks through a socket of its own");
    }

    /**
     * Ends the case.
     *
     * @param passed true if nothing has failed so far: then the canary is tried and leftovers count
     * @throws AssertionError if anything is wrong
     */
    public void finish(boolean passed) {
        List<Throwable> problems = new ArrayList<>();
        if (passed) {
            attempt(problems, this::singCanary);
            problems.addAll(scope.check());
            tasks.forEach(task -> attempt(problems, () -> requireDone(task)));
        }
        tasks.forEach(Task::cancel);
        problems.addAll(closeAll());
        if (!problems.isEmpty()) {
            AssertionError error = new AssertionError(
                    "at the end of the case: " + problems.getFirst().getMessage(), problems.getFirst());
            problems.stream().skip(1).forEach(error::addSuppressed);
            throw error;
        }
    }

    /** Checks that another connection of the same devices still moves data, whatever the case has done. */
    private void singCanary() {
        BytePattern pattern = pattern();
        MemoryRegion source = responder.region(CANARY_BYTES, pattern, AccessFlag.REMOTE_READ);
        MemoryRegion sink = requester.region(CANARY_BYTES, AccessFlag.READ_SINK);
        MemoryRegion inbox = responder.region(CANARY_BYTES, AccessFlag.RECEIVE_SINK);
        canary.responder().receive(1, inbox, 0, CANARY_BYTES);
        canary.requester().read(2, sink, source);
        canary.requester().sends().expect(2, CompletionOpcode.READ, CANARY_BYTES);
        pattern.require(sink.memory(), "READ on the canary's connection");
        canary.requester().send(3, sink, 0, CANARY_BYTES);
        canary.requester().sends().expect(3, CompletionOpcode.SEND, CANARY_BYTES);
        canary.responder().receives().expect(1, CompletionOpcode.RECEIVE, CANARY_BYTES);
        pattern.require(inbox.memory(), "SEND on the canary's connection");
    }

    private void requireDone(Task<?> task) {
        if (!task.isDone()) {
            throw new AssertionError("thread '" + task.name() + "' still runs");
        }
    }

    private List<Throwable> closeAll() {
        List<Throwable> problems = new ArrayList<>(scope.close());
        for (VerbsDevice device : devices.reversed()) {
            attempt(problems, () -> requireAllConnectionsClosed(device));
            attempt(problems, device::close);
        }
        return problems;
    }

    private void requireAllConnectionsClosed(VerbsDevice device) {
        Map<String, Long> counters = device.counters();
        if (counters.containsKey(ESTABLISHED) && counters.containsKey(CLOSED)) {
            await(device.name() + " to count as many connections closed as established: " + counters, () -> {
                Map<String, Long> now = device.counters();
                return now.getOrDefault(ESTABLISHED, 0L) - now.getOrDefault(CLOSED, 0L) == 0;
            });
        }
    }

    private VerbsDevice open(VerbsProvider provider, Map<String, String> options) {
        VerbsDevice device = provider.open(options);
        if (devices.isEmpty()) {
            scope.drives(device);
        }
        devices.add(device);
        return device;
    }

    private static void attempt(List<Throwable> problems, Runnable action) {
        try {
            action.run();
        } catch (RuntimeException | AssertionError e) {
            problems.add(e);
        }
    }

    private interface QueuePairFactory {
        QueuePair create(org.softrdma.verbs.ProtectionDomain domain, QueuePairAttributes attributes);
    }
}
