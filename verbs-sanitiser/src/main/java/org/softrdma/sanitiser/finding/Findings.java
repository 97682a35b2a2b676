package org.softrdma.sanitiser.finding;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** Collects findings: the first 1000, how many there were, and how many at each {@link FindingPlace}. Thread-safe. */
public final class Findings implements Consumer<Finding> {
    private static final int MOST = 1000;

    private final ReentrantLock lock = new ReentrantLock();
    private final List<Finding> kept = new ArrayList<>();
    private final Map<FindingPlace, Repeated> places = new LinkedHashMap<>();
    private long count;

    /** A finding, and how often it came. */
    private static final class Repeated {
        private final Finding first;
        private long times;

        Repeated(Finding first) {
            this.first = first;
        }

        String text() {
            return first.text() + (times > 1 ? "\n  times: " + times + "; this is the first" : "");
        }
    }

    /** None yet. */
    public Findings() {}

    @Override
    public void accept(Finding finding) {
        lock.lock();
        try {
            count++;
            if (kept.size() < MOST) {
                kept.add(finding);
            }
            FindingPlace place = FindingPlace.of(finding);
            if (places.size() < MOST || places.containsKey(place)) {
                places.computeIfAbsent(place, _ -> new Repeated(finding)).times++;
            }
        } finally {
            lock.unlock();
        }
    }

    /** How many there were, including those that were not kept. */
    public long count() {
        lock.lock();
        try {
            return count;
        } finally {
            lock.unlock();
        }
    }

    /** Those that were kept, oldest first. */
    public List<Finding> list() {
        lock.lock();
        try {
            return List.copyOf(kept);
        } finally {
            lock.unlock();
        }
    }

    /** Those of a rule that were kept, oldest first. */
    public List<Finding> of(Rule rule) {
        return list().stream().filter(finding -> finding.rule() == rule).toList();
    }

    /** Removes and returns those that were kept, oldest first. */
    public List<Finding> drain() {
        lock.lock();
        try {
            List<Finding> drained = List.copyOf(kept);
            kept.clear();
            places.clear();
            count = 0;
            return drained;
        } finally {
            lock.unlock();
        }
    }

    /** A line for each place, oldest first, for people: the rule, the line of the program, and how often. */
    public List<String> summary() {
        lock.lock();
        try {
            return places.entrySet().stream()
                    .map(entry -> entry.getKey() + " (" + times(entry.getValue().times) + ")")
                    .toList();
        } finally {
            lock.unlock();
        }
    }

    private static String times(long times) {
        return times == 1 ? "once" : times + " times";
    }

    /** The first of each place and how often it came, oldest first, for people. */
    @Override
    public String toString() {
        lock.lock();
        try {
            return places.values().stream().map(Repeated::text).collect(Collectors.joining("\n"));
        } finally {
            lock.unlock();
        }
    }
}
