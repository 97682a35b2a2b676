package org.softrdma.testkit.walk;

import java.net.InetSocketAddress;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
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
    private final ReceivePoster receives;
    private final WindowPoster binds;
    private final WalkWindows windows;
    private final WalkMemory memory;
    private final Reregistering reregistering;
    private final CompletionQueues queues;
    private final SharedQueues sharedQueues;
    private final EventJudge events;
    private final Settling settling;
    private final Teardown teardown;
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
        receives = new ReceivePoster(state);
        binds = new WindowPoster(state, poster);
        windows = new WalkWindows(state);
        memory = new WalkMemory(state);
        reregistering = new Reregistering(state, memory);
        queues = new CompletionQueues(state);
        sharedQueues = new SharedQueues(state, receives);
        events = new EventJudge(state);
        settling = new Settling(state, judge, events);
        teardown = new Teardown(state, sharedQueues);
        connections = new Connections(state, receives, queues, sharedQueues);
        misuse = new Misuse(state);
        faults = new FaultChooser(state);
        declareOperations();
    }

    private void declareOperations() {
        add("register", 6, () -> onNode(memory::register));
        add("deregister", 3, () -> onNode(memory::deregister));
        add("fill", 8, () -> onNode(memory::fill));
        add("connect", 4, () -> onNode(connections::connect));
        add("post RECV", 22, () -> onEnd(end -> true, receives::post));
        add("post SEND", 20, () -> onEnd(WalkEnd::isMade, poster::postSend));
        add("post WRITE", 20, () -> onEnd(WalkEnd::isMade, poster::postWrite));
        add("post READ", 20, () -> onEnd(WalkEnd::isMade, poster::postRead));
        add("post empty READ", 2, () -> onEnd(WalkEnd::isMade, poster::postEmptyRead));
        add("poll", 30, () -> onNode(this::poll));
        add("await", 3, () -> onNode(settling::await));
        add("settle", 2, settling::settle);
        add("sleep", 4, this::sleep);
        add("check memory", 2, this::check);
        add("disconnect", 1, () -> onEnd(WalkEnd::isMade, connections::disconnect));
        add("close queue pair", 2, this::close);
        add("make domain", 1, () -> onNode(connections::makeDomain));
        add("make queue", 2, () -> onNode(queues::make));
        add("close what is idle", 2, () -> onNode(misuse::closeIdle));
        if (state.settings().features()) {
            declareFeatures();
        }
        if (!state.settings().lawful()) {
            add("close what is busy", 1, () -> onNode(misuse::closeBusy));
            add("register wrongly", 1, () -> onNode(misuse::registerWrongly));
            add("post wrongly", 1, () -> onEnd(WalkEnd::isMade, misuse::postWrongly));
        }
        if (state.environment().faults().isPresent()) {
            add("fault", 1, faults::breakSomething);
        }
    }

    /** Each does nothing on a device without its feature. */
    private void declareFeatures() {
        add("post atomic", 20, () -> onEnd(WalkEnd::isMade, atomics::post));
        add("post WRITE with immediate", 15, () -> onEnd(WalkEnd::isMade, poster::postWriteImmediate));
        add("allocate window", 3, () -> onNode(windows::allocate));
        add("bind window", 30, () -> onEnd(WalkEnd::isMade, binds::bind));
        add("invalidate window", 6, () -> onEnd(WalkEnd::isMade, binds::invalidate));
        add("SEND with invalidate", 50, () -> onEnd(WalkEnd::isMade, binds::sendInvalidate));
        add("close window", 1, () -> onNode(windows::close));
        add("make shared queue", 2, () -> onNode(sharedQueues::make));
        add("post shared RECV", 14, () -> onNode(sharedQueues::post));
        add("set limit", 4, () -> onNode(sharedQueues::arm));
        add("close shared queue", 1, () -> onNode(sharedQueues::closeIdle));
        add("take events", 4, () -> onNode(events::take));
        add("resize queue", 1, () -> onNode(queues::resize));
        add("reregister", 2, () -> onNode(reregistering::change));
        if (!state.settings().lawful()) {
            add("share wrongly", 1, () -> onNode(misuse::shareWrongly));
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
            teardown.release(failure);
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
            queues.make(node);
            memory.register(node);
        }
    }

    private void end() {
        settling.settle();
        for (WalkEnd end : state.liveEnds()) {
            if (end.isMade() && !end.unplaced().isEmpty()) {
                poster.postEmptyRead(end);
            }
        }
        settling.settle();
        memory.check();
        for (WalkEnd end : state.liveEnds()) {
            if (end.verbs().state() != QueuePairState.ERROR && state.percent(50)) {
                connections.disconnect(end);
            }
        }
        settling.settle();
        state.liveEnds().forEach(connections::close);
        memory.check();
        teardown.closeAll();
        memory.check();
        state.nodes().forEach(node -> node.buffers().forEach(WalkBuffer::close));
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
}
