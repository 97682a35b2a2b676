package org.softrdma.testkit.walk;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.CompletionChannel;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A random walk: opens a device on each node and does operations that a seed draws, lawful ones and, unless told
 * otherwise, unlawful ones. A model beside it says what verbs promise of each; the first disagreement ends the walk. At
 * its end everything completes that must, is closed, and nobody has changed a byte that was not his.
 *
 * <p>{@link Judge} judges completions, {@link Conflicts} says which bytes are certain. One thread, the caller's.
 */
public final class Walk {
    private static final int BACKLOG = 16;
    private static final long LONGEST_SLEEP_NS = TimeUnit.MICROSECONDS.toNanos(300);

    private final WalkState state;
    private final Judge judge;
    private final Poster poster;
    private final AtomicPoster atomics;
    private final WalkMemory memory;
    private final Connections connections;
    private final Misuse misuse;
    private final FaultChooser faults;
    private final Map<String, Operation> operations = new LinkedHashMap<>();
    private int weights;

    /** An operation: true if it could be done now. */
    private record Operation(int weight, BooleanSupplier attempt) {}

    /**
     * A walk to come.
     *
     * @param settings its seed and size
     * @param environment where
     */
    public Walk(WalkSettings settings, WalkEnvironment environment) {
        state = new WalkState(settings, environment);
        judge = new Judge(state);
        poster = new Poster(state);
        atomics = new AtomicPoster(state, poster);
        memory = new WalkMemory(state);
        connections = new Connections(state, poster);
        misuse = new Misuse(state);
        faults = new FaultChooser(state);
        declareOperations();
    }

    private void declareOperations() {
        add("register", 6, () -> onNode(memory::register));
        add("deregister", 3, () -> onNode(memory::deregister));
        add("fill", 8, () -> onNode(memory::fill));
        add("connect", 4, () -> onNode(connections::connect));
        add("post RECV", 22, () -> onEnd(end -> true, poster::postReceive));
        add("post SEND", 20, () -> onEnd(Walk::isMade, poster::postSend));
        add("post WRITE", 20, () -> onEnd(Walk::isMade, poster::postWrite));
        add("post READ", 20, () -> onEnd(Walk::isMade, poster::postRead));
        add("post empty READ", 2, () -> onEnd(Walk::isMade, poster::postEmptyRead));
        add("poll", 30, () -> onNode(this::poll));
        add("await", 3, () -> onNode(this::await));
        add("settle", 2, this::settle);
        add("sleep", 4, this::sleep);
        add("check memory", 2, this::check);
        add("disconnect", 1, () -> onEnd(Walk::isMade, connections::disconnect));
        add("close queue pair", 2, this::close);
        add("make domain", 1, () -> onNode(connections::makeDomain));
        add("make queue", 2, () -> onNode(connections::makeQueue));
        add("close what is idle", 2, () -> onNode(misuse::closeIdle));
        if (state.settings().features()) {
            add("post atomic", 20, () -> onEnd(Walk::isMade, atomics::post));
            add("post WRITE with immediate", 15, () -> onEnd(Walk::isMade, poster::postWriteImmediate));
        }
        if (!state.settings().lawful()) {
            add("close what is busy", 1, () -> onNode(misuse::closeBusy));
            add("register wrongly", 1, () -> onNode(misuse::registerWrongly));
            add("post wrongly", 1, () -> onEnd(Walk::isMade, misuse::postWrongly));
        }
        if (state.environment().faults().isPresent()) {
            add("fault", 1, faults::breakSomething);
        }
    }

    private void add(String name, int weight, BooleanSupplier attempt) {
        operations.put(name, new Operation(weight, attempt));
        weights += weight;
    }

    /**
     * Walks.
     *
     * @return what it did
     * @throws WalkFailure if a device and the model disagree: with the last operations
     */
    public WalkReport run() {
        try {
            open();
            int done = 0;
            while (done < state.settings().operations()) {
                if (step()) {
                    done++;
                }
            }
            end();
            return new WalkReport(state.settings(), done, state.counts());
        } catch (RuntimeException | WalkFailure e) {
            WalkFailure failure =
                    new WalkFailure(e.getMessage() + "\nlast operations:\n  " + String.join("\n  ", state.last()), e);
            release(failure);
            throw failure;
        }
    }

    // ---- begin and end

    private void open() {
        for (int i = 0; i < state.settings().nodes(); i++) {
            VerbsDevice device = state.environment().open(i);
            Listener listener =
                    device.listen(new InetSocketAddress(state.environment().address(i), 0), BACKLOG);
            WalkNode node = new WalkNode(i, device, listener);
            state.nodes().add(node);
            connections.makeDomain(node);
            connections.makeQueue(node);
            memory.register(node);
        }
    }

    private void end() {
        settle();
        for (WalkEnd end : state.liveEnds()) {
            if (isMade(end) && !end.unplaced().isEmpty()) {
                poster.postEmptyRead(end);
            }
        }
        settle();
        memory.check();
        for (WalkEnd end : state.liveEnds()) {
            if (end.verbs().state() != QueuePairState.ERROR && state.percent(50)) {
                connections.disconnect(end);
            }
        }
        settle();
        state.liveEnds().forEach(connections::close);
        memory.check();
        for (WalkNode node : state.liveNodes()) {
            for (WalkDomain domain : node.domains()) {
                domain.regions().forEach(region -> region.verbs().close());
                domain.verbs().close();
            }
            node.queues().forEach(WalkQueue::close);
            node.listener().close();
            node.device().close();
        }
        memory.check();
        state.nodes().forEach(node -> node.buffers().forEach(WalkBuffer::close));
    }

    /** After a failure: gives back what it can, so that a process can go on with another walk. */
    private void release(WalkFailure failure) {
        for (WalkNode node : state.liveNodes()) {
            List<AutoCloseable> all = new ArrayList<>();
            node.ends().forEach(end -> all.add(end.verbs()));
            node.regions().forEach(region -> all.add(region.verbs()));
            node.domains().forEach(domain -> all.add(domain.verbs()));
            node.queues().forEach(queue -> all.add(queue::close));
            all.add(node.listener());
            all.add(node.device());
            for (AutoCloseable each : all) {
                try {
                    each.close();
                } catch (Exception e) {
                    failure.addSuppressed(e);
                }
            }
        }
    }

    // ---- operations

    private boolean step() {
        int choice = state.below(weights);
        for (Map.Entry<String, Operation> each : operations.entrySet()) {
            choice -= each.getValue().weight();
            if (choice < 0) {
                boolean done = each.getValue().attempt().getAsBoolean();
                if (done) {
                    state.count(each.getKey());
                }
                return done;
            }
        }
        throw new IllegalStateException("no operation for " + choice);
    }

    private boolean onNode(Predicate<WalkNode> operation) {
        return operation.test(state.any(state.liveNodes()).orElseThrow());
    }

    private boolean onEnd(Predicate<WalkEnd> condition, Predicate<WalkEnd> operation) {
        Optional<WalkEnd> chosen =
                state.any(state.liveEnds().stream().filter(condition).toList());
        return chosen.isPresent() && operation.test(chosen.get());
    }

    private static boolean isMade(WalkEnd end) {
        return end.connection().ends().size() == 2 && end.verbs().state() != QueuePairState.INITIAL;
    }

    private boolean close() {
        // Those in error first: else they hold all places.
        return onEnd(end -> end.verbs().state() == QueuePairState.ERROR, connections::close)
                || (state.percent(30) && onEnd(this::mayClose, connections::close));
    }

    /** A correct program closes nothing on which its requests are under way. */
    private boolean mayClose(WalkEnd end) {
        return !state.settings().lawful()
                || (end.sends().isEmpty() && end.peer().sends().isEmpty());
    }

    private boolean poll(WalkNode node) {
        WalkQueue queue = state.any(node.queues()).orElse(null);
        if (queue == null) {
            return false;
        }
        judge.poll(queue);
        return true;
    }

    private boolean sleep() {
        state.environment().sleep(state.random().nextLong(LONGEST_SLEEP_NS));
        return true;
    }

    private boolean check() {
        memory.check();
        return true;
    }

    /** Arms, drains and waits, as a program does that sleeps until there is something to do. */
    private boolean await(WalkNode node) {
        WalkQueue queue = state.any(node.queues().stream()
                        .filter(each -> each.channel() != null)
                        .toList())
                .orElse(null);
        if (queue == null) {
            return false;
        }
        CompletionChannel channel = Objects.requireNonNull(queue.channel());
        queue.verbs().requestNotification(false);
        while (judge.poll(queue) > 0) {
            // Until it is empty.
        }
        boolean expected = isExpecting(queue);
        state.note("await an event of " + node + (expected ? ", which must come" : ""));
        Optional<CompletionQueue> event = channel.await(expected ? WalkState.PATIENCE_NS : 0);
        if (expected && event.isEmpty()) {
            throw new WalkFailure(
                    "no event came for a completion queue that is armed, and requests are to complete there");
        }
        event.ifPresent(raised -> raised.acknowledgeEvents(1));
        return true;
    }

    private static boolean isExpecting(WalkQueue queue) {
        for (WalkEnd end : queue.ends()) {
            if (end.sendCompletions() == queue && isLively(end) && nextSignalled(end) != null) {
                return true;
            }
        }
        return false;
    }

    private static boolean isLively(WalkEnd end) {
        return isMade(end) && !end.connection().mayEnd();
    }

    private static @Nullable WalkRequest nextSignalled(WalkEnd end) {
        return end.sends().stream().filter(WalkRequest::isSignalled).findFirst().orElse(null);
    }

    /**
     * A request that completes in error whatever it was: one that was not signalled may have succeeded without a word.
     */
    private static @Nullable WalkRequest mustComplete(WalkEnd end) {
        return end.sends().stream()
                .filter(request -> request.isSignalled() || request.fault() == WalkRequest.Fault.LOCAL)
                .findFirst()
                .orElse(null);
    }

    /** Waits until everything has completed that must. */
    private boolean settle() {
        state.note("settle");
        boolean settled = state.await(WalkState.PATIENCE_NS, () -> {
            judge.pollAll();
            return unsettled() == null;
        });
        if (!settled) {
            throw new WalkFailure("after " + WalkState.PATIENCE_NS / 1_000_000_000 + " s " + unsettled());
        }
        return true;
    }

    /** Something that is still to happen; null if there is nothing. */
    private @Nullable String unsettled() {
        for (WalkEnd end : state.liveEnds()) {
            WalkRequest signalled = nextSignalled(end);
            if (isLively(end) && signalled != null) {
                return signalled + " on " + end + " has not completed; " + end.connection();
            }
            if (isLively(end)
                    && end.received()
                            < Math.min(
                                    end.peer().messages().size(),
                                    end.allReceives().size())) {
                return end + " has received " + end.received() + " of "
                        + end.peer().messages().size() + " messages";
            }
            boolean bothLive = end.connection().ends().stream()
                    .noneMatch(each -> each.node().isDead());
            boolean ended = end.verbs().state() == QueuePairState.ERROR;
            if (end.connection().mustEnd() && bothLive && !ended) {
                return end + " is " + end.verbs().state() + "; " + end.connection();
            }
            if (ended && (mustComplete(end) != null || !end.receives().isEmpty())) {
                return end + " is in error, and does not flush " + end.sends() + " and " + end.receives();
            }
            if (end.connection().mayEnd() && !ended && signalled != null) {
                return signalled + " on " + end + " neither completes nor fails; " + end.connection();
            }
        }
        return null;
    }
}
