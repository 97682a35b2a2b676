package org.softrdma.sanitiser.finding;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** Collects findings: the first 1000, and how many there were. Thread-safe. */
public final class Findings implements Consumer<Finding> {
    private static final int MOST = 1000;

    private final ReentrantLock lock = new ReentrantLock();
    private final List<Finding> kept = new ArrayList<>();
    private long count;

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

    /**
     * Those of a rule that were kept, oldest first.
     *
     * @param rule the rule
     */
    public List<Finding> of(Rule rule) {
        return list().stream().filter(finding -> finding.rule() == rule).toList();
    }

    /** Removes and returns those that were kept, oldest first. */
    public List<Finding> drain() {
        lock.lock();
        try {
            List<Finding> drained = List.copyOf(kept);
            kept.clear();
            count = 0;
            return drained;
        } finally {
            lock.unlock();
        }
    }

    /** All that were kept, for people. */
    @Override
    public String toString() {
        return list().stream().map(Finding::text).collect(Collectors.joining("\n"));
    }
}
