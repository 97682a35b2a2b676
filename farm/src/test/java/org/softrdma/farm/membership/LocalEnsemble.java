package org.softrdma.farm.membership;

import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * An ensemble in this process, for nodes on threads of their own: writes take effect at once, sessions do not end, and
 * what has changed is told at the next poll. Any thread.
 */
public final class LocalEnsemble {
    private final Lock lock = new ReentrantLock();
    private final Map<Integer, InetSocketAddress> addresses = new ConcurrentHashMap<>();
    private final Set<Integer> alive = new TreeSet<>();
    private final Set<Integer> acknowledged = new TreeSet<>();
    private final Set<NextConfiguration.Whole> whole = new HashSet<>();
    private final AtomicLong changes = new AtomicLong();
    private FarmConfiguration configuration = FarmConfiguration.NONE;
    private PlacementPolicy policy = PlacementPolicy.NONE;
    private int active;

    private record Answer(MembershipWrite write, boolean applied) {}

    /** Of one machine; its thread. */
    private final class Session implements FarmMembership {
        private final int machine;
        private final Deque<Answer> answers = new ArrayDeque<>();
        private long seen = -1;

        Session(int machine) {
            this.machine = machine;
        }

        @Override
        public int machine() {
            return machine;
        }

        @Override
        public void announce(InetSocketAddress address, boolean memory) {
            addresses.put(machine, address);
        }

        @Override
        public @Nullable InetSocketAddress address(int of) {
            return addresses.get(of);
        }

        @Override
        public void write(MembershipWrite write) {
            answers.add(new Answer(write, apply(machine, write)));
        }

        @Override
        public int poll(MembershipEvents events) {
            int count = 0;
            for (Answer next = answers.poll(); next != null; next = answers.poll()) {
                events.onAnswer(next.write, next.applied);
                count++;
            }
            long now = changes.get();
            if (now != seen) {
                seen = now;
                tell(events);
                count++;
            }
            return count;
        }

        @Override
        public void close() {
            // It is alive for ever.
        }
    }

    /** A session of a new machine. */
    public FarmMembership join(int machine) {
        lock.lock();
        try {
            alive.add(machine);
            changes.incrementAndGet();
        } finally {
            lock.unlock();
        }
        return new Session(machine);
    }

    /** True once an epoch is active that has so many regions. */
    public boolean isActive(int regions) {
        lock.lock();
        try {
            return active > 0
                    && active == configuration.epoch()
                    && configuration.regions().size() == regions;
        } finally {
            lock.unlock();
        }
    }

    private void tell(MembershipEvents events) {
        lock.lock();
        try {
            if (configuration.epoch() > 0) {
                events.onConfiguration(configuration);
            }
            events.onActive(active);
            events.onAcknowledged(configuration.epoch(), Set.copyOf(acknowledged));
            events.onAlive(Set.copyOf(alive));
            events.onWhole(Set.copyOf(whole));
            events.onPolicy(policy);
        } finally {
            lock.unlock();
        }
    }

    private boolean apply(int machine, MembershipWrite write) {
        lock.lock();
        try {
            boolean same = write.epoch() == configuration.epoch();
            return switch (write) {
                case MembershipWrite.Renew _ -> same;
                case MembershipWrite.Configure it ->
                    same && it.revision() == configuration.revision() && configure(it.next());
                case MembershipWrite.Place it ->
                    same
                            && it.revision() == configuration.revision()
                            && configure(configuration.with(it.region(), it.placement()));
                case MembershipWrite.Acknowledge _ -> same && changed(() -> acknowledged.add(machine));
                case MembershipWrite.Activate it -> same && changed(() -> active = Math.max(active, it.epoch()));
                case MembershipWrite.Whole it ->
                    same && changed(() -> whole.add(new NextConfiguration.Whole(it.epoch(), it.region(), machine)));
                case MembershipWrite.SetPolicy it -> same && changed(() -> policy = it.policy());
            };
        } finally {
            lock.unlock();
        }
    }

    private boolean configure(FarmConfiguration next) {
        if (next.epoch() > configuration.epoch()) {
            acknowledged.clear();
        }
        return changed(() -> configuration = next);
    }

    private boolean changed(Runnable change) {
        change.run();
        changes.incrementAndGet();
        return true;
    }
}
