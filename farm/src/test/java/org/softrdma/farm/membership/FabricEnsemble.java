package org.softrdma.farm.membership;

import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.softrdma.fabric.Fabric;
import org.softrdma.fabric.FabricNode;

/**
 * ZooKeeper as its clients may see it, on a node of a fabric: writes are applied one after the other, at a time that the
 * seed chooses; answers and news are late, and news are merged. It hears of a session only sometimes when something of it
 * arrives, and ends it when it has heard nothing for the length of a session. What is sent while the way is cut arrives
 * afterwards. It has a clock of its own, which is right. The running thread.
 */
public final class FabricEnsemble {
    private static final long MOST_DELAY_NS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final long MOST_NEWS_DELAY_NS = TimeUnit.MILLISECONDS.toNanos(60);
    private static final long MOST_LATE_NS = TimeUnit.MILLISECONDS.toNanos(2100);
    private static final int PING_PART = 6;
    /** Times of a thousand that it hears of a session when something of it arrives. */
    private static final int HEARD = 800;

    /** Mistakes that it may have. */
    public enum Flaw {
        /** Renewals are granted whatever the configuration is. */
        RENEWALS_NOT_COMPARED
    }

    private final Fabric fabric;
    private final FabricNode node;
    private final long sessionNs;
    private final EnumSet<Flaw> flaws;
    private final TreeMap<Integer, Session> sessions = new TreeMap<>();
    private final Map<Integer, InetSocketAddress> addresses = new HashMap<>();
    private final Set<Integer> withoutMemory = new TreeSet<>();
    private FarmConfiguration configuration = FarmConfiguration.NONE;
    private int active;
    private final Map<Integer, Set<Integer>> acknowledged = new HashMap<>();
    private final Set<NextConfiguration.Whole> whole = new HashSet<>();
    private PlacementPolicy policy = PlacementPolicy.NONE;
    private int nextMachine;
    private int lateNews;
    private long lookNs = TimeUnit.MILLISECONDS.toNanos(1);
    private final Map<Integer, Long> activatedNs = new HashMap<>();

    /** A message under way, and when it arrives unless the way is cut. */
    private record Letter(long atNs, Runnable arrives) {}

    private final class Session implements FarmMembership {
        private final int machine;
        private final FabricNode client;
        private final Deque<Letter> up = new ArrayDeque<>();
        private final Deque<Letter> down = new ArrayDeque<>();
        private final Deque<Letter> news = new ArrayDeque<>();
        private long heardNs = fabric.clock().nanoTime();
        private long pingNs = heardNs;
        private boolean ended;
        private boolean closed;
        private boolean newsUnderWay;
        private long deafUntilNs;
        private @Nullable MembershipEvents events;

        Session(int machine, FabricNode client) {
            this.machine = machine;
            this.client = client;
        }

        @Override
        public int machine() {
            return machine;
        }

        @Override
        public void announce(InetSocketAddress address, boolean memory) {
            addresses.put(machine, address);
            if (!memory) {
                withoutMemory.add(machine);
                changed();
            }
        }

        @Override
        public @Nullable InetSocketAddress address(int other) {
            return addresses.get(other);
        }

        @Override
        public void write(MembershipWrite write) {
            client.step(write.getClass().getSimpleName());
            post(up, MOST_DELAY_NS, () -> {
                boolean applied = !ended && apply(machine, write);
                post(down, MOST_DELAY_NS, () -> tell(it -> it.onAnswer(write, applied)));
            });
        }

        private void post(Deque<Letter> way, long mostNs, Runnable arrives) {
            long atNs =
                    fabric.clock().nanoTime() + 1 + fabric.scheduler().choices().below((int) mostNs);
            Letter last = way.peekLast();
            way.add(new Letter(last == null ? atNs : Math.max(atNs, last.atNs), arrives));
        }

        private void tell(Consumer<MembershipEvents> news) {
            MembershipEvents current = events;
            if (current != null) {
                news.accept(current);
            }
        }

        @Override
        public int poll(MembershipEvents newEvents) {
            events = newEvents;
            long nowNs = fabric.clock().nanoTime();
            if (nowNs - pingNs >= sessionNs / PING_PART) {
                pingNs = nowNs;
                post(up, MOST_DELAY_NS, () -> {});
            }
            return (nowNs < deafUntilNs ? 0 : take(news, nowNs)) + take(down, nowNs);
        }

        private int take(Deque<Letter> way, long nowNs) {
            int told = 0;
            while (!way.isEmpty() && way.peek().atNs <= nowNs && fabric.reaches(node, client)) {
                way.remove().arrives.run();
                told++;
            }
            return told;
        }

        /** What arrives at the ensemble. */
        void receive(long nowNs) {
            while (!up.isEmpty() && up.peek().atNs <= nowNs && fabric.reaches(client, node)) {
                Letter letter = up.remove();
                if (!ended && fabric.scheduler().choices().chance(HEARD)) {
                    heardNs = nowNs;
                }
                letter.arrives.run();
            }
            if (!ended && nowNs - heardNs >= sessionNs) {
                end();
            }
        }

        void end() {
            end(MOST_DELAY_NS);
        }

        void end(long mostNs) {
            if (!ended) {
                ended = true;
                fabric.scheduler().note("a session ends", machine);
                post(down, mostNs, () -> tell(MembershipEvents::onSessionEnd));
                changed();
            }
        }

        void news() {
            if (!newsUnderWay) {
                newsUnderWay = true;
                boolean late = fabric.scheduler().choices().chance(lateNews);
                post(news, late ? MOST_LATE_NS : MOST_NEWS_DELAY_NS, () -> {
                    newsUnderWay = false; // what changes from now on is told by another letter
                    tell(FabricEnsemble.this::tellAll);
                });
            }
        }

        @Override
        public void close() {
            if (!closed) {
                closed = true;
                post(up, MOST_DELAY_NS, this::end);
            }
        }
    }

    /**
     * Nobody is there yet.
     *
     * @param fabric of the run
     * @param sessionNs after how long a session ends of which it hears nothing
     * @param flaws mistakes of it
     */
    public FabricEnsemble(Fabric fabric, long sessionNs, Set<Flaw> flaws) {
        this.fabric = fabric;
        this.sessionNs = sessionNs;
        this.flaws = EnumSet.noneOf(Flaw.class);
        this.flaws.addAll(flaws);
        node = fabric.node("zookeeper");
    }

    /** Where it is, for partitions. */
    public FabricNode node() {
        return node;
    }

    /** For a time a machine hears no news, but answers to its writes. */
    public void deaf(int machine, long durationNs) {
        Objects.requireNonNull(sessions.get(machine)).deafUntilNs =
                fabric.clock().nanoTime() + durationNs;
    }

    /** From now on so many news of a thousand are later than a lease is long. */
    public void lateNews(int perMille) {
        lateNews = perMille;
    }

    /** Looks only now and then what has arrived: a run of many seconds takes fewer steps. */
    public void lookEvery(long ns) {
        lookNs = ns;
    }

    /** Runs until the run ends. */
    public void start() {
        node.startHelper("ensemble", () -> {
            while (true) {
                long nowNs = fabric.clock().nanoTime();
                sessions.values().forEach(session -> session.receive(nowNs));
                fabric.scheduler().sleep(lookNs);
            }
        });
    }

    /**
     * A session of a new machine.
     *
     * @param client where it runs
     */
    public FarmMembership join(FabricNode client) {
        int machine = nextMachine++;
        Session session = new Session(machine, client);
        sessions.put(machine, session);
        changed();
        return session;
    }

    /** Ends a session although its process runs. */
    public void expel(int machine) {
        expel(machine, MOST_DELAY_NS);
    }

    /** Ends a session although its process runs, which hears of it up to so much later, and of nothing before that. */
    public void expel(int machine, long mostNs) {
        Objects.requireNonNull(sessions.get(machine)).end(mostNs);
    }

    /** The configuration that is written. */
    public FarmConfiguration configuration() {
        return configuration;
    }

    /** The epoch that is active. */
    public int active() {
        return active;
    }

    /** When an epoch became active, by the run's clock; the end of time if it is not. */
    public long activatedNs(int epoch) {
        return activatedNs.getOrDefault(epoch, Long.MAX_VALUE);
    }

    private void changed() {
        sessions.values().forEach(Session::news);
    }

    private void tellAll(MembershipEvents events) {
        FarmConfiguration current = configuration();
        if (current.epoch() > 0) {
            events.onConfiguration(current);
        }
        events.onActive(active);
        events.onAcknowledged(current.epoch(), new TreeSet<>(acknowledged.getOrDefault(current.epoch(), Set.of())));
        Set<Integer> alive = new TreeSet<>();
        sessions.forEach((machine, session) -> {
            if (!session.ended) {
                alive.add(machine);
            }
        });
        events.onAlive(alive);
        Set<Integer> without = new TreeSet<>(alive);
        without.retainAll(withoutMemory);
        events.onWithoutMemory(without);
        events.onWhole(Set.copyOf(whole));
        events.onPolicy(policy);
    }

    private boolean apply(int machine, MembershipWrite write) {
        FarmConfiguration current = configuration();
        boolean same = write.epoch() == current.epoch();
        boolean applied = switch (write) {
            case MembershipWrite.Renew _ -> same || flaws.contains(Flaw.RENEWALS_NOT_COMPARED);
            case MembershipWrite.Configure it -> same && it.revision() == current.revision();
            case MembershipWrite.Place it -> same && it.revision() == current.revision();
            case MembershipWrite.Acknowledge _,
                    MembershipWrite.Activate _,
                    MembershipWrite.Whole _,
                    MembershipWrite.SetPolicy _ -> same;
        };
        if (applied) {
            switch (write) {
                case MembershipWrite.Renew _ -> {}
                case MembershipWrite.Configure it -> configure(it.next());
                case MembershipWrite.Place it -> configure(current.with(it.region(), it.placement()));
                case MembershipWrite.Acknowledge it -> {
                    acknowledged
                            .computeIfAbsent(it.epoch(), any -> new TreeSet<>())
                            .add(machine);
                    changed();
                }
                case MembershipWrite.Activate it -> {
                    active = Math.max(active, it.epoch());
                    activatedNs.putIfAbsent(it.epoch(), fabric.clock().nanoTime());
                    fabric.scheduler().note("an epoch is active", active);
                    changed();
                }
                case MembershipWrite.SetPolicy it -> {
                    policy = it.policy();
                    changed();
                }
                case MembershipWrite.Whole it -> {
                    whole.add(new NextConfiguration.Whole(it.epoch(), it.region(), machine));
                    changed();
                }
            }
        }
        return applied;
    }

    private void configure(FarmConfiguration next) {
        configuration = FarmConfigurationDescriptor.decode(FarmConfigurationDescriptor.encode(next));
        fabric.scheduler().note("a configuration is written", next.epoch());
        changed();
    }
}
