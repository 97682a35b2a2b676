package org.softrdma.testkit.walk;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Breaks something in the environment, and tells the model what may come of it. The walk's thread. */
final class FaultChooser {
    /** A silence from which a device may take its peer for gone. */
    private static final long LONG_NS = TimeUnit.SECONDS.toNanos(3);

    private static final int LEAST_NODES = 2;

    private final WalkState state;

    FaultChooser(WalkState state) {
        this.state = state;
    }

    boolean breakSomething() {
        Optional<WalkFaults> faults = state.environment().faults();
        List<WalkNode> live = state.liveNodes();
        if (faults.isEmpty() || live.size() < 2) {
            return false;
        }
        WalkNode one = live.get(state.below(live.size()));
        WalkNode other =
                state.any(live.stream().filter(node -> node != one).toList()).orElseThrow();
        state.fault();
        switch (state.below(10)) {
            case 0, 1, 2, 3 -> reset(faults.get(), one, other);
            case 4, 5 -> partition(faults.get(), one, other);
            case 6, 7 -> pause(faults.get(), one);
            default -> lose(faults.get(), one);
        }
        return true;
    }

    private void reset(WalkFaults faults, WalkNode one, WalkNode other) {
        state.note("reset between " + one + " and " + other);
        for (WalkConnection connection : state.connections()) {
            if (has(connection, one) && has(connection, other)) {
                connection.mayEnd("a reset");
            }
        }
        faults.reset(one.index(), other.index());
    }

    private void partition(WalkFaults faults, WalkNode one, WalkNode other) {
        long durationNs = duration();
        state.note("partition between " + one + " and " + other + " for " + durationNs + " ns");
        if (durationNs >= LONG_NS) {
            state.connections().stream()
                    .filter(connection -> has(connection, one) && has(connection, other))
                    .forEach(connection -> connection.mayLoseHost("a long partition"));
        }
        faults.partition(one.index(), other.index(), durationNs);
    }

    private void pause(WalkFaults faults, WalkNode node) {
        long durationNs = duration();
        state.note("pause " + node + " for " + durationNs + " ns");
        if (durationNs >= LONG_NS) {
            state.connections().stream()
                    .filter(connection -> has(connection, node))
                    .forEach(connection -> connection.mayLoseHost("a long pause"));
        }
        faults.pause(node.index(), durationNs);
    }

    private long duration() {
        return TimeUnit.MICROSECONDS.toNanos(
                state.percent(70) ? state.between(10, 100_000) : state.between(10, 15_000_000));
    }

    private void lose(WalkFaults faults, WalkNode node) {
        if (state.liveNodes().size() <= LEAST_NODES) {
            return;
        }
        boolean power = state.percent(50);
        state.note((power ? "no power for " : "kill ") + node);
        for (WalkConnection connection : state.connections()) {
            if (has(connection, node)) {
                connection.mayLoseHost(power ? "a node without power" : "a node that was killed");
            }
        }
        node.die();
        for (WalkEnd end : node.ends()) {
            end.sends().forEach(request -> request.release(false));
        }
        if (power) {
            faults.powerOff(node.index());
        } else {
            faults.kill(node.index());
        }
    }

    private static boolean has(WalkConnection connection, WalkNode node) {
        return connection.ends().stream().anyMatch(end -> end.node() == node);
    }
}
