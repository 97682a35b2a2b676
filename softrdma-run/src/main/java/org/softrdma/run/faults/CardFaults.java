package org.softrdma.run.faults;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.softrdma.fabric.fault.ArmedFault;
import org.softrdma.fabric.fault.Fault;
import org.softrdma.fabric.fault.FaultPlan;
import org.softrdma.fabric.fault.Verb;
import org.softrdma.fabric.fault.What;
import org.softrdma.fabric.fault.When;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.sim.roce.wire.PacketKind;
import org.softrdma.verbs.CompletionOpcode;

/**
 * What is wrong with a card, as a plan says. Nodes of the plan are addresses of hosts, as text.
 *
 * <p>What happens at an occasion depends on the seed, on the fault's place in the plan, and on how many of its occasions came before:
 * each fault has random numbers of its own. So the same calls in the same order have the same outcomes, whatever the network does
 * meanwhile. Times are those of the clock.
 *
 * <p>All but {@link #add}, {@link #remove}, {@link #clear} and {@link #list} is for the thread that answers calls; these are for any.
 */
public final class CardFaults {
    /** With a control socket: how long what was asked there may wait for the card. */
    private static final long CONTROL_WAIT_NS = 20_000_000;

    private static final int THOUSAND = 1000;

    private final ReentrantLock lock = new ReentrantLock();
    private final boolean none;
    private final boolean controlled;
    private final long seed;
    private final Consumer<String> log;
    private final LongSupplier clock;
    private final long beginNs;
    private final List<Numbered> faults = new ArrayList<>();
    private final List<Separation> separations = new ArrayList<>();
    private final PriorityQueue<Timer> timers = new PriorityQueue<>(Comparator.comparingLong(Timer::dueNs));
    private final Map<Verb, Integer> calls = new EnumMap<>(Verb.class);
    private final Map<CompletionOpcode, Integer> completions = new EnumMap<>(CompletionOpcode.class);
    private final Map<Path, Integer> datagrams = new HashMap<>();
    private final Map<PacketsOfPath, Integer> packets = new HashMap<>();
    private int lastNumber;
    private long portUpNs;
    private long receivesNs;
    private boolean toldDown;
    private Runnable portChanged = () -> {};

    /** A fault under the number by which the log and the control socket know it; due at a time, or never. */
    private record Numbered(int number, ArmedFault armed, SplittableRandom random, long addedNs) {
        long dueNs() {
            return armed.left() > 0 && armed.fault().when() instanceof When.AtTime at
                    ? saturated(addedNs, at.ns())
                    : What.FOREVER;
        }
    }

    private record Separation(String one, String other, long untilNs) {
        boolean concerns(String from, String to) {
            return (isNode(one, from) && isNode(other, to)) || (isNode(one, to) && isNode(other, from));
        }
    }

    private record Timer(long dueNs, Runnable task) {}

    private record Path(String from, String to) {}

    private record PacketsOfPath(Path path, PacketKind kind) {}

    private CardFaults(
            boolean none, FaultPlan plan, boolean controlled, long seed, Consumer<String> log, LongSupplier clock) {
        this.none = none;
        this.controlled = controlled;
        this.seed = seed;
        this.log = log;
        this.clock = clock;
        beginNs = clock.getAsLong();
        for (Fault each : plan.faults()) {
            int ignored = add(each);
        }
    }

    /** Nothing ever goes wrong. */
    public static CardFaults none() {
        return new CardFaults(true, FaultPlan.NONE, false, 0, line -> {}, System::nanoTime);
    }

    /**
     * Those of a plan, from now on.
     *
     * @param controlled others may be added at any time
     * @param log told of each that happens
     * @param clock nanoseconds
     * @throws IllegalArgumentException if it has a fault that a card cannot have ({@link #requirePossible})
     */
    public static CardFaults of(
            FaultPlan plan, boolean controlled, long seed, Consumer<String> log, LongSupplier clock) {
        return new CardFaults(false, plan, controlled, seed, log, clock);
    }

    /**
     * Refuses a fault that a card cannot have.
     *
     * @throws IllegalArgumentException says what it can have
     */
    public static void requirePossible(Fault fault) {
        boolean occasion = switch (fault.when()) {
            case When.OnVerb _, When.OnCompletion _, When.ForDatagram _, When.AtTime _ -> true;
            case When.OnConnection _ -> false;
        };
        if (!occasion) {
            throw new IllegalArgumentException(
                    fault.when() + ": expected onVerb, onCompletion, onPacket, onDatagram or atTime");
        }
        switch (fault.what()) {
            case What.OfCard _, What.OnDatagram _, What.Partition _, What.PowerOff _ -> {}
            case What what ->
                throw new IllegalArgumentException(
                        what + ": expected refuse, fail, overrun, lose, repeat, delay, portDown,"
                                + " noReceives, partition or powerOff");
        }
    }

    /** One that has nothing to do with those of the seeds before and behind. */
    private static SplittableRandom random(long seed) {
        return new SplittableRandom(new SplittableRandom(seed).nextLong());
    }

    private static long saturated(long from, long ns) {
        long sum = from + ns;
        return sum < 0 ? What.FOREVER : sum;
    }

    private static boolean isNode(String planned, String host) {
        return planned.equals(When.ANY) || planned.equals(host);
    }

    private static boolean isNumber(int planned, int number) {
        return planned == When.EACH || planned == number;
    }

    private long nowNs() {
        return clock.getAsLong() - beginNs;
    }

    /** Whether there may ever be one. */
    public boolean isNone() {
        return none;
    }

    // ---- what a control socket asks

    /**
     * Adds one.
     *
     * @return the number by which it is known
     */
    public int add(Fault fault) {
        requirePossible(fault);
        lock.lock();
        try {
            lastNumber++;
            faults.add(new Numbered(lastNumber, new ArmedFault(fault), random(seed + lastNumber), nowNs()));
            return lastNumber;
        } finally {
            lock.unlock();
        }
    }

    /** Takes one away; false if there is none of that number. What it has done stays. */
    public boolean remove(int number) {
        lock.lock();
        try {
            return faults.removeIf(each -> each.number == number);
        } finally {
            lock.unlock();
        }
    }

    /** Takes all away, and what they have done to the port, to RECVs and to the network. */
    public void clear() {
        lock.lock();
        try {
            faults.clear();
            separations.clear();
            portUpNs = 0;
            receivesNs = 0;
        } finally {
            lock.unlock();
        }
    }

    /** A line for each. */
    public List<String> list() {
        lock.lock();
        try {
            return faults.stream()
                    .map(each -> each.number + ": " + each.armed.fault() + ", left " + each.armed.left())
                    .toList();
        } finally {
            lock.unlock();
        }
    }

    // ---- occasions

    /**
     * A program calls a verb.
     *
     * @throws CallRefusedException if it fails
     */
    public void onVerb(Verb verb) throws CallRefusedException {
        if (none) {
            return;
        }
        runDue();
        int number = calls.merge(verb, 1, Integer::sum);
        What happens = occur(
                when -> when instanceof When.OnVerb on && on.verb() == verb && isNumber(on.number(), number),
                verb + " " + number);
        if (happens instanceof What.Refuse refusal) {
            throw new CallRefusedException(refusal.error().number());
        }
    }

    /** A request has succeeded; what becomes of its completion, or null for nothing. */
    public What.@Nullable OnCompletion onCompletion(CompletionOpcode operation) {
        if (none) {
            return null;
        }
        int number = completions.merge(operation, 1, Integer::sum);
        What happens = occur(
                when -> when instanceof When.OnCompletion on
                        && on.operation() == operation
                        && isNumber(on.number(), number),
                "completion of " + operation + " " + number);
        return happens instanceof What.OnCompletion what ? what : null;
    }

    /**
     * A datagram is sent; what becomes of it, or null for nothing.
     *
     * @param from host that sends it
     * @param to host that it is for
     * @param bytes address of its payload
     */
    What.@Nullable OnDatagram onDatagram(String from, String to, long bytes, int length) {
        Path path = new Path(from, to);
        int number = datagrams.merge(path, 1, Integer::sum);
        Optional<PacketKind> kind = PacketKind.of(bytes, length);
        int ofKind = kind.map(each -> packets.merge(new PacketsOfPath(path, each), 1, Integer::sum))
                .orElse(0);
        What happens = occur(
                when -> when instanceof When.ForDatagram on
                        && isNode(on.from(), from)
                        && isNode(on.to(), to)
                        && switch (on) {
                            case When.OnDatagram each -> isNumber(each.number(), number);
                            case When.OnPacket each ->
                                kind.filter(each.kind()::equals).isPresent() && isNumber(each.number(), ofKind);
                        },
                kind.map(each -> each + " packet " + ofKind).orElse("datagram " + number) + " from " + from + " to "
                        + to);
        return passesNothing(from, to) ? new What.Lose() : happens instanceof What.OnDatagram what ? what : null;
    }

    private boolean passesNothing(String from, String to) {
        lock.lock();
        try {
            long now = nowNs();
            return now < portUpNs
                    || separations.stream().anyMatch(each -> now < each.untilNs && each.concerns(from, to));
        } finally {
            lock.unlock();
        }
    }

    /** What happens at an occasion to a call, a completion or a datagram; what happens to the card has happened then. */
    private @Nullable What occur(Predicate<When> isOccasion, String occasion) {
        lock.lock();
        try {
            @Nullable What happens = null;
            for (Numbered each : faults) {
                What what = each.armed.fault().what();
                boolean ofCard = what instanceof What.PortDown
                        || what instanceof What.NoReceives
                        || what instanceof What.Partition
                        || what instanceof What.PowerOff;
                if ((ofCard || happens == null)
                        && isOccasion.test(each.armed.fault().when())
                        && each.armed.occurs(perMille -> each.random.nextInt(THOUSAND) < perMille)) {
                    log.accept(occasion + ": " + what + " (fault " + each.number + ")");
                    if (ofCard) {
                        happen(what);
                    } else {
                        happens = what;
                    }
                }
            }
            return happens;
        } finally {
            lock.unlock();
        }
    }

    private void happen(What what) {
        long now = nowNs();
        switch (what) {
            case What.PortDown(long ns) -> portUpNs = Math.max(portUpNs, saturated(now, ns));
            case What.NoReceives(long ns) -> receivesNs = Math.max(receivesNs, saturated(now, ns));
            case What.Partition(String one, String other, long ns) ->
                separations.add(new Separation(one, other, saturated(now, ns)));
            case What.PowerOff(String node) -> separations.add(new Separation(node, When.ANY, What.FOREVER));
            case What other -> throw new IllegalStateException(other + " happens to no card");
        }
    }

    // ---- the card

    /** Whether RECVs are not to be found. */
    public boolean withholdsReceives() {
        return !none && nowNs() < receivesNs;
    }

    /** Whether the port is down. */
    public boolean isPortDown() {
        return !none && nowNs() < portUpNs;
    }

    /** Who is told when the port goes down, and up. */
    public void whenPortChanges(Runnable told) {
        portChanged = told;
    }

    /** Does something later, in {@link #runDue}. */
    public void schedule(long ns, Runnable task) {
        lock.lock();
        try {
            timers.add(new Timer(saturated(nowNs(), ns), task));
        } finally {
            lock.unlock();
        }
    }

    /** Does what is due. */
    public void runDue() {
        if (none) {
            return;
        }
        for (Runnable task = nextDue(); task != null; task = nextDue()) {
            task.run();
        }
        boolean down = isPortDown();
        if (down != toldDown) {
            toldDown = down;
            portChanged.run();
        }
    }

    private @Nullable Runnable nextDue() {
        lock.lock();
        try {
            long now = nowNs();
            for (Numbered each : faults) {
                if (each.dueNs() <= now) {
                    if (each.armed.occurs(perMille -> each.random.nextInt(THOUSAND) < perMille)) {
                        log.accept(each.armed.fault().when() + ": "
                                + each.armed.fault().what() + " (fault " + each.number + ")");
                        happen(each.armed.fault().what());
                    }
                    each.armed.end(); // its time does not come again
                }
            }
            Timer first = timers.peek();
            return first == null || first.dueNs > now ? null : timers.remove().task();
        } finally {
            lock.unlock();
        }
    }

    /**
     * How long the card may wait before it calls {@link #runDue} again.
     *
     * @param longest if there is nothing to wait for
     */
    public long waitNs(long longest) {
        if (none) {
            return longest;
        }
        lock.lock();
        try {
            long now = nowNs();
            long due = faults.stream().mapToLong(Numbered::dueNs).min().orElse(What.FOREVER);
            Timer first = timers.peek();
            due = Math.min(due, first == null ? What.FOREVER : first.dueNs);
            due = Math.min(due, toldDown && portUpNs > now ? portUpNs : What.FOREVER);
            return Math.clamp(due - now, 0, controlled ? Math.min(longest, CONTROL_WAIT_NS) : longest);
        } finally {
            lock.unlock();
        }
    }
}
