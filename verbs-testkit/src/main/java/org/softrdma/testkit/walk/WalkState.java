package org.softrdma.testkit.walk;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.PostStatus;

/** What all parts of a walk share: its choices, its nodes and connections, what it has done. The walk's thread. */
final class WalkState {
    /** Limit of every wait: longer than any fault, and than the time after which a host counts as gone. */
    static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(120);

    private static final int KEPT = 60;
    private static final int OVERLAPPING = 20;

    private final WalkSettings settings;
    private final WalkEnvironment environment;
    private final RandomGenerator random;
    private final List<WalkNode> nodes = new ArrayList<>();
    private final List<WalkConnection> connections = new ArrayList<>();
    private final Deque<String> last = new ArrayDeque<>();
    private final Map<String, Integer> counts = new TreeMap<>();
    private long nextId = 1;
    private boolean hadFaults;

    WalkState(WalkSettings settings, WalkEnvironment environment) {
        this.settings = settings;
        this.environment = environment;
        random = RandomGeneratorFactory.of("L64X128MixRandom").create(settings.seed());
    }

    WalkSettings settings() {
        return settings;
    }

    WalkEnvironment environment() {
        return environment;
    }

    RandomGenerator random() {
        return random;
    }

    List<WalkNode> nodes() {
        return nodes;
    }

    /** Those that live. */
    List<WalkNode> liveNodes() {
        return nodes.stream().filter(node -> !node.isDead()).toList();
    }

    List<WalkConnection> connections() {
        return connections;
    }

    /** Open ends of live nodes, whose peers may be closed or dead. */
    List<WalkEnd> liveEnds() {
        return liveNodes().stream().flatMap(node -> node.ends().stream()).toList();
    }

    /** True if the walk is to use a feature, and the node's device has it. */
    boolean uses(WalkNode node, Feature feature) {
        return settings.features() && node.features().contains(feature);
    }

    long nextId() {
        return nextId++;
    }

    /** Something was broken on purpose: whatever waits for a peer may fail. */
    void fault() {
        hadFaults = true;
    }

    boolean hadFaults() {
        return hadFaults;
    }

    // ---- choices

    /** From 0 to bound - 1. */
    int below(int bound) {
        return random.nextInt(bound);
    }

    /** From least to most. */
    int between(int least, int most) {
        return least + random.nextInt(most - least + 1);
    }

    boolean percent(int chance) {
        return random.nextInt(100) < chance;
    }

    /** Something unlawful, if the walk may. */
    boolean breaks(int chance) {
        return !settings.lawful() && percent(chance);
    }

    /** A request disturbs others or is disturbed, and that is not wanted now. */
    boolean isUnwanted(List<Claim> claims, WalkRequest request) {
        return Conflicts.exist(claims, request) && !breaks(OVERLAPPING);
    }

    <T> Optional<T> any(List<T> choices) {
        return choices.isEmpty() ? Optional.empty() : Optional.of(choices.get(below(choices.size())));
    }

    // ---- what happened

    /**
     * Counts a post, which must have been refused if and only if its queue was full.
     *
     * @return true if it was accepted
     */
    boolean accepted(WalkRequest request, PostStatus status, boolean full, String queue) {
        if ((status == PostStatus.QUEUE_FULL) != full) {
            throw new WalkFailure(request + " was " + status + " by " + queue);
        }
        count("posted " + request.kind() + (full ? ", full" : ""));
        return !full;
    }

    /** Counts something. */
    void count(String what) {
        counts.merge(what, 1, Integer::sum);
    }

    /** Notes an operation. */
    void note(String what) {
        if (last.size() == KEPT) {
            last.removeFirst();
        }
        last.addLast(environment.nanoTime() / 1000 + " us: " + what);
    }

    List<String> last() {
        return List.copyOf(last);
    }

    Map<String, Integer> counts() {
        return counts;
    }

    // ---- waiting

    /** True if the condition came to hold in time. */
    boolean await(long timeoutNs, BooleanSupplier condition) {
        long endNs = environment.nanoTime() + timeoutNs;
        int rounds = 0;
        while (!condition.getAsBoolean()) {
            if (environment.nanoTime() - endNs > 0) {
                return false;
            }
            environment.idle(rounds++);
        }
        return true;
    }
}
