package org.softrdma.cluster;

import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.agrona.concurrent.ManyToOneConcurrentLinkedQueue;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;
import org.softrdma.farm.membership.FarmConfiguration;
import org.softrdma.farm.membership.FarmConfigurationDescriptor;
import org.softrdma.farm.membership.FarmMembership;
import org.softrdma.farm.membership.MembershipEvents;
import org.softrdma.farm.membership.MembershipWrite;
import org.softrdma.farm.membership.NextConfiguration;
import org.softrdma.farm.node.FarmNodeContext;

/**
 * FaRM's membership by ZooKeeper (Hunt et al., USENIX ATC 2010), with the nodes of {@link ClusterPaths}.
 *
 * <ul>
 *   <li>A write is a multi that checks the version of the node {@code epoch}. One is under way at a time, and it is sent
 *       again until ZooKeeper has answered it: so they take effect in their order.
 *   <li>What changes is told by a watch, and then read. ZooKeeper forgets what happened while a client was cut off, so
 *       after each new connection everything is read again.
 *   <li>There is one session, for life: when a server says that it has ended nothing is written any more, and no other one
 *       begins. While no server answers it may go on, so nothing is given up.
 * </ul>
 *
 * <p>The node's thread; answers come by a thread of ZooKeeper, which leaves them in a queue.
 */
public final class ZooKeeperMembership implements FarmMembership {
    private static final int MOST_MACHINES = 1 << 16;
    private static final int ANY_VERSION = -1;
    private static final byte[] NOTHING = {};
    /** Who has had no server for this part of a session says so. */
    private static final int OUTAGE_PART = 3;

    /** What is read when it has changed. */
    private enum Part {
        CONFIGURATION,
        ACTIVE,
        ALIVE,
        ACKNOWLEDGED,
        WHOLE,
        POLICY
    }

    /** Hears that ZooKeeper is away. The node's thread. */
    public interface OutageEvents {
        /**
         * No server has been there for a third of a session.
         *
         * @param ms for how long
         */
        void onOutage(long ms);

        /**
         * One is there again, after {@link #onOutage}.
         *
         * @param ms how long none was
         */
        void onEndOfOutage(long ms);
    }

    private final ClusterClient session;
    private final ClusterPaths paths;
    private final ClusterSettings settings;
    private final long cluster;
    private final int machine;
    private final Queue<Runnable> arrived;
    private final Deque<MembershipWrite> writes = new ArrayDeque<>();
    private final Deque<MembershipWrite> refused = new ArrayDeque<>();
    private final EnumSet<Part> stale = EnumSet.allOf(Part.class);
    private final EnumSet<Part> reading = EnumSet.noneOf(Part.class);
    private final Map<Integer, ClusterView.Machine> announced = new HashMap<>();
    /** What it has said of an epoch, for its nodes go when it says something of a later one. */
    private final List<String> said = new ArrayList<>();

    private ZooKeeper client;
    private @Nullable MembershipEvents events;
    private boolean writing;
    /** The first write may have taken effect already. */
    private boolean sentBefore;

    private boolean connected = true;
    private long disconnectedNs;
    private boolean outageTold;
    private volatile @Nullable OutageEvents outages;
    private boolean ended;
    private boolean endTold;
    private boolean closed;
    private volatile @Nullable InetSocketAddress listening;

    private ZooKeeperMembership(
            ClusterClient session,
            ClusterPaths paths,
            ClusterSettings settings,
            long cluster,
            int machine,
            Queue<Runnable> arrived) {
        this.session = session;
        client = session.client();
        this.paths = paths;
        this.settings = settings;
        this.cluster = cluster;
        this.machine = machine;
        this.arrived = arrived;
    }

    /**
     * Joins a cluster as a new machine, and makes the cluster if there is none of that name.
     *
     * @param servers of ZooKeeper, as {@code host:port,host:port}
     * @param name of the cluster
     * @param settings that a new cluster has; one that exists keeps its own
     * @param timeoutNs longest wait for ZooKeeper
     * @throws ClusterException if that is impossible
     */
    public static ZooKeeperMembership join(String servers, String name, ClusterSettings settings, long timeoutNs) {
        ClusterPaths paths = ClusterPaths.of(name);
        Queue<Runnable> arrived = new ManyToOneConcurrentLinkedQueue<>();
        Joining joining = new Joining(arrived);
        ClusterSettings kept = makeIfAbsent(servers, paths, settings, timeoutNs);
        ClusterClient session = ClusterClient.open(servers, kept.sessionMs(), timeoutNs, joining);
        try {
            int machine = ClusterPaths.machineOf(session.createEphemeral(paths.newMachine(), NOTHING, true));
            if (machine >= MOST_MACHINES) {
                throw new ClusterException("cluster " + name + " has had " + MOST_MACHINES
                        + " machines, which is all that there may be: choose another name");
            }
            session.createEphemeral(paths.lease(machine), NOTHING, false);
            ZooKeeperMembership joined =
                    new ZooKeeperMembership(session, paths, kept, session.madeAt(paths.root()), machine, arrived);
            joining.joined = joined;
            joined.watch();
            return joined;
        } catch (RuntimeException e) {
            session.close();
            throw e;
        }
    }

    /** Makes the cluster if there is none; its settings, which say how long the session of a machine is. */
    private static ClusterSettings makeIfAbsent(
            String servers, ClusterPaths paths, ClusterSettings settings, long timeoutNs) {
        try (ClusterClient session =
                ClusterClient.open(servers, settings.sessionMs(), timeoutNs, ClusterClient.SessionEvents.NONE)) {
            session.createIfAbsent(ClusterPaths.CLUSTERS, NOTHING);
            session.createIfAbsent(paths.root(), NOTHING);
            byte[] none = FarmConfigurationDescriptor.encode(FarmConfiguration.NONE);
            paths.all().forEach(path -> session.createIfAbsent(path, path.equals(paths.config()) ? none : NOTHING));
            session.createIfAbsent(paths.settings(), settings.encode());
            return ClusterSettings.decode(session.get(paths.settings()));
        }
    }

    /** Hears of the session before there is a membership, and from then on for it. */
    private static final class Joining implements ClusterClient.SessionEvents {
        private final Queue<Runnable> arrived;
        private volatile @Nullable ZooKeeperMembership joined;

        Joining(Queue<Runnable> arrived) {
            this.arrived = arrived;
        }

        @Override
        public void onConnected(ZooKeeper client) {
            tell(membership -> membership.onConnected(client));
        }

        @Override
        public void onDisconnected() {
            tell(ZooKeeperMembership::onDisconnected);
        }

        @Override
        public void onEnd() {
            tell(ZooKeeperMembership::end);
        }

        private void tell(Consumer<ZooKeeperMembership> news) {
            boolean ignored = arrived.add(() -> {
                ZooKeeperMembership current = joined;
                if (current != null) {
                    news.accept(current);
                }
            });
        }
    }

    private void watch() {
        watch(paths.config(), Part.CONFIGURATION);
        watch(paths.active(), Part.ACTIVE);
        watch(paths.alive(), Part.ALIVE);
        watch(paths.acks(), Part.ACKNOWLEDGED);
        watch(paths.whole(), Part.WHOLE);
        watch(paths.policy(), Part.POLICY);
    }

    private void watch(String path, Part part) {
        session.watch(path, event -> {
            if (event.getType() != Watcher.Event.EventType.None) {
                boolean ignored = arrived.add(() -> stale.add(part));
            }
        });
    }

    /** What all machines of the cluster have in common. */
    public ClusterSettings settings() {
        return settings;
    }

    /**
     * What a node of this cluster is made of.
     *
     * @param address where it listens
     */
    public FarmNodeContext context(InetSocketAddress address) {
        return settings.context(address, cluster);
    }

    /** The number of the cluster: no other one of the same ZooKeeper has it. */
    long cluster() {
        return cluster;
    }

    /** What this machine has announced. Any thread. */
    public InetSocketAddress listening() {
        return Objects.requireNonNull(listening, "it has announced nothing yet");
    }

    /** How long ZooKeeper waits for this machine before it ends its session. */
    public int sessionMs() {
        return client.getSessionTimeout();
    }

    /** Sets who hears that ZooKeeper is away. Any thread. */
    public void outages(OutageEvents newOutages) {
        outages = newOutages;
    }

    /** For tests that end it from outside. Any thread. */
    ZooKeeper client() {
        return session.client();
    }

    @Override
    public int machine() {
        return machine;
    }

    @Override
    public void announce(InetSocketAddress address, boolean memory) {
        String ignored = session.createEphemeral(paths.alive(machine), ClusterTexts.announced(address, memory), false);
        listening = address;
    }

    @Override
    public @Nullable InetSocketAddress address(int of) {
        ClusterView.Machine known = announced.get(of);
        return known == null ? null : known.address();
    }

    @Override
    public void write(MembershipWrite write) {
        if (write instanceof MembershipWrite.Renew) {
            dropRenewals();
        }
        (ended ? refused : writes).add(write);
    }

    /** Renewals that wait behind the first write: a new one says more, and no answer may come for long. */
    private void dropRenewals() {
        MembershipWrite first = writes.peek();
        for (Iterator<MembershipWrite> each = writes.iterator(); each.hasNext(); ) {
            MembershipWrite write = each.next();
            if (write != first && write instanceof MembershipWrite.Renew) {
                each.remove();
                refused.add(write);
            }
        }
    }

    @Override
    public int poll(MembershipEvents newEvents) {
        events = newEvents;
        int told = 0;
        for (Runnable next = arrived.poll(); next != null; next = arrived.poll()) {
            next.run();
            told++;
        }
        for (MembershipWrite write = refused.poll(); write != null; write = refused.poll()) {
            newEvents.onAnswer(write, false);
        }
        lookForOutage();
        if (ended && !endTold) {
            endTold = true;
            newEvents.onSessionEnd();
        }
        if (connected && !ended && !closed) {
            if (!stale.isEmpty()) {
                readStale();
            }
            sendNext();
        }
        return told;
    }

    private void lookForOutage() {
        OutageEvents told = outages;
        if (told != null && !connected && !outageTold) {
            long ms = outageMs();
            if (ms >= settings.sessionMs() / OUTAGE_PART) {
                outageTold = true;
                told.onOutage(ms);
            }
        }
    }

    private long outageMs() {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - disconnectedNs);
    }

    private void onDisconnected() {
        if (connected) {
            disconnectedNs = System.nanoTime();
        }
        connected = false;
    }

    private void onConnected(ZooKeeper now) {
        OutageEvents told = outages;
        if (told != null && outageTold) {
            told.onEndOfOutage(outageMs());
        }
        outageTold = false;
        client = now;
        connected = true;
        stale.addAll(EnumSet.allOf(Part.class)); // what happened meanwhile no watch tells
    }

    private void end() {
        ended = true;
        writing = false;
        refused.addAll(writes);
        writes.clear();
    }

    private static boolean isAnswered(int rc) {
        return ClusterClient.isAnswered(KeeperException.Code.get(rc));
    }

    // ---- writes

    private void sendNext() {
        MembershipWrite write = writes.peek();
        if (write == null || writing) {
            return;
        }
        writing = true;
        switch (write) {
            case MembershipWrite.Renew it ->
                send(it, Op.setData(paths.lease(machine), ClusterTexts.number(it.epoch()), ANY_VERSION));
            case MembershipWrite.Activate it ->
                send(it, Op.setData(paths.active(), ClusterTexts.number(it.epoch()), ANY_VERSION));
            case MembershipWrite.SetPolicy it ->
                send(it, Op.setData(paths.policy(), ClusterTexts.policy(it.policy()), ANY_VERSION));
            case MembershipWrite.Acknowledge it -> {
                List<Op> ops = new ArrayList<>();
                said.forEach(path -> ops.add(Op.delete(path, ANY_VERSION)));
                ops.add(ephemeral(paths.ack(it.epoch(), machine)));
                send(it, ops.toArray(Op[]::new));
            }
            case MembershipWrite.Whole it -> send(it, ephemeral(paths.whole(it.epoch(), it.region(), machine)));
            case MembershipWrite.Configure it ->
                replace(it, it.revision(), current -> it.next(), Op.setData(paths.epoch(), NOTHING, it.epoch()));
            case MembershipWrite.Place it ->
                replace(
                        it,
                        it.revision(),
                        current -> current.with(it.region(), it.placement()),
                        Op.check(paths.epoch(), it.epoch()));
        }
    }

    private static Op ephemeral(String path) {
        return Op.create(path, NOTHING, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
    }

    private void send(MembershipWrite write, Op... ops) {
        List<Op> all = new ArrayList<>();
        all.add(Op.check(paths.epoch(), write.epoch()));
        all.addAll(List.of(ops));
        multi(write, all);
    }

    private void multi(MembershipWrite write, List<Op> ops) {
        client.multi(ops, (rc, path, context, results) -> answered(rc, () -> onAnswer(write, rc)), null);
    }

    private void answered(int rc, Runnable task) {
        boolean ignored = arrived.add(() -> {
            if (ended) {
                return;
            }
            if (isAnswered(rc)) {
                task.run();
            } else {
                writing = false;
                sentBefore = true;
            }
        });
    }

    /** Reads the configuration; if it is the one that a write is for, replaces it unless it changes meanwhile. */
    private void replace(MembershipWrite write, int revision, UnaryOperator<FarmConfiguration> next, Op epoch) {
        client.getData(
                paths.config(),
                false,
                (int rc, String path, Object context, byte @Nullable [] data, @Nullable Stat stat) ->
                        answered(rc, () -> {
                            FarmConfiguration current = data == null || stat == null ? null : configuration(data);
                            if (current == null
                                    || stat == null
                                    || current.epoch() != write.epoch()
                                    || current.revision() != revision) {
                                onAnswer(write, KeeperException.Code.BADVERSION.intValue());
                            } else {
                                byte[] bytes = FarmConfigurationDescriptor.encode(next.apply(current));
                                multi(write, List.of(epoch, Op.setData(paths.config(), bytes, stat.getVersion())));
                            }
                        }),
                null);
    }

    private FarmConfiguration configuration(byte[] data) {
        try {
            return FarmConfigurationDescriptor.decode(data);
        } catch (IllegalArgumentException e) {
            throw new ClusterException(
                    paths.config() + " in ZooKeeper was written by something else than this version: " + e.getMessage(),
                    e);
        }
    }

    private void onAnswer(MembershipWrite write, int rc) {
        KeeperException.Code code = KeeperException.Code.get(rc);
        boolean mine = sentBefore && (code == KeeperException.Code.NODEEXISTS || code == KeeperException.Code.NONODE);
        boolean applied = code == KeeperException.Code.OK || mine; // nobody else makes or deletes nodes of this machine
        writing = false;
        sentBefore = false;
        writes.remove();
        if (applied) {
            remember(write);
        }
        tell(it -> it.onAnswer(write, applied));
    }

    private void remember(MembershipWrite write) {
        if (write instanceof MembershipWrite.Acknowledge it) {
            said.clear();
            said.add(paths.ack(it.epoch(), machine));
        } else if (write instanceof MembershipWrite.Whole it) {
            said.add(paths.whole(it.epoch(), it.region(), machine));
        }
    }

    private void tell(Consumer<MembershipEvents> news) {
        MembershipEvents current = events;
        if (current != null && !ended) {
            news.accept(current);
        }
    }

    // ---- news

    private void readStale() {
        for (Part part : EnumSet.copyOf(stale)) {
            if (reading.add(part)) {
                stale.remove(part);
                read(part);
            }
        }
    }

    private void read(Part part) {
        switch (part) {
            case CONFIGURATION ->
                data(part, paths.config(), data -> {
                    FarmConfiguration told = configuration(data);
                    if (told.epoch() > 0) {
                        tell(it -> it.onConfiguration(told));
                    }
                });
            case ACTIVE -> data(part, paths.active(), data -> tell(it -> it.onActive(ClusterTexts.number(data))));
            case POLICY -> data(part, paths.policy(), data -> tell(it -> it.onPolicy(ClusterTexts.policy(data))));
            case ALIVE -> children(part, paths.alive(), this::onAlive);
            case ACKNOWLEDGED -> children(part, paths.acks(), this::onAcknowledged);
            case WHOLE ->
                children(part, paths.whole(), names -> {
                    Set<NextConfiguration.Whole> copies = new HashSet<>();
                    for (String name : names) {
                        int[] numbers = ClusterPaths.numbers(name);
                        copies.add(new NextConfiguration.Whole(numbers[0], numbers[1], numbers[2]));
                    }
                    tell(it -> it.onWhole(copies));
                });
        }
    }

    private void data(Part part, String path, Consumer<byte[]> news) {
        client.getData(
                path,
                false,
                (int rc, String of, Object context, byte @Nullable [] data, @Nullable Stat stat) ->
                        hasRead(part, path, rc, () -> news.accept(data == null ? NOTHING : data)),
                null);
    }

    private void children(Part part, String path, Consumer<List<String>> news) {
        client.getChildren(
                path,
                false,
                (int rc, String of, Object context, @Nullable List<String> names) ->
                        hasRead(part, path, rc, () -> news.accept(names == null ? List.of() : names)),
                null);
    }

    private void hasRead(Part part, String path, int rc, Runnable news) {
        boolean ignored = arrived.add(() -> {
            reading.remove(part);
            if (ended) {
                return;
            }
            if (!isAnswered(rc)) {
                stale.add(part);
            } else if (rc == KeeperException.Code.OK.intValue()) {
                news.run();
            } else {
                throw new ClusterException("ZooKeeper does not give " + path + ": " + KeeperException.Code.get(rc)
                        + ": somebody has changed the nodes of this cluster");
            }
        });
    }

    /** What a machine has announced never changes: it is read once. */
    private void onAlive(List<String> names) {
        Set<Integer> machines = new TreeSet<>();
        names.forEach(name -> machines.add(ClusterPaths.numbers(name)[0]));
        announced.keySet().retainAll(machines);
        machines.removeAll(announced.keySet());
        if (machines.isEmpty()) {
            tellAlive();
        } else {
            machines.forEach(this::readAnnounced);
        }
    }

    private void readAnnounced(int other) {
        client.getData(
                paths.alive(other),
                false,
                (int rc, String path, Object context, byte @Nullable [] data, @Nullable Stat stat) -> {
                    boolean ignored = arrived.add(() -> {
                        if (ended || !isAnswered(rc)) {
                            stale.add(Part.ALIVE);
                        } else if (data != null) { // else it is gone again, which a watch tells
                            announced.put(other, ClusterTexts.announced(data));
                            tellAlive();
                        }
                    });
                },
                null);
    }

    private void tellAlive() {
        Set<Integer> alive = new TreeSet<>(announced.keySet());
        Set<Integer> withoutMemory = new TreeSet<>(alive);
        withoutMemory.removeIf(other -> {
            ClusterView.Machine known = announced.get(other);
            return known == null || known.memory();
        });
        tell(it -> {
            it.onWithoutMemory(withoutMemory);
            it.onAlive(alive);
        });
    }

    /** The newest epoch of which anybody has said something. */
    private void onAcknowledged(List<String> names) {
        int newest = 0;
        Set<Integer> machines = new TreeSet<>();
        for (String name : names) {
            int[] numbers = ClusterPaths.numbers(name);
            if (numbers[0] > newest) {
                newest = numbers[0];
                machines.clear();
            }
            if (numbers[0] == newest) {
                machines.add(numbers[1]);
            }
        }
        int epoch = newest;
        tell(it -> it.onAcknowledged(epoch, machines));
    }

    /** Ends the session: the others see at once that this machine is gone. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            session.close();
        }
    }
}
