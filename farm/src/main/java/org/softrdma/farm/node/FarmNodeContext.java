package org.softrdma.farm.node;

import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SleepingMillisIdleStrategy;
import org.agrona.concurrent.SystemNanoClock;
import org.softrdma.farm.membership.MembershipSettings;
import org.softrdma.farm.message.NodeMessageDescriptor;
import org.softrdma.farm.space.SpaceShape;
import org.softrdma.farm.transaction.ShippedFunction;
import org.softrdma.stores.MemorySteps;

/** What a node is made of. All machines of a cluster have the same shape, membership settings and longest message. */
public final class FarmNodeContext {
    private static final int MOST_WINDOW = 16;

    private final InetSocketAddress address;
    private long cluster;
    private SpaceShape shape = SpaceShape.DEFAULT;
    private MembershipSettings membership = MembershipSettings.DEFAULT;
    private int regions = 1;
    private boolean offersMemory = true;
    private int window = 8;
    private int longestMessage = 1 << 13;
    private int reads = 64;
    private Map<Integer, ShippedFunction> functions = Map.of();
    private long connectTimeoutNs = TimeUnit.MILLISECONDS.toNanos(100);
    private NanoClock nanoClock = SystemNanoClock.INSTANCE;
    private Supplier<IdleStrategy> idleStrategy = () -> new SleepingMillisIdleStrategy(1);
    private RandomGenerator random = ThreadLocalRandom.current();
    private MemorySteps steps = MemorySteps.OF_JVM;

    /**
     * The usual.
     *
     * @param address where the node listens
     */
    public FarmNodeContext(InetSocketAddress address) {
        this.address = address;
    }

    /** Sets the cluster: a number that only its machines have. */
    public FarmNodeContext cluster(long number) {
        cluster = number;
        return this;
    }

    /** Sets the lengths of the space. */
    public FarmNodeContext shape(SpaceShape newShape) {
        shape = newShape;
        return this;
    }

    /** Sets how members keep together. */
    public FarmNodeContext membership(MembershipSettings settings) {
        membership = settings;
        return this;
    }

    /** Sets how many regions this machine makes for itself. It may have those of other machines besides. */
    public FarmNodeContext regions(int count) {
        regions = count;
        return this;
    }

    /** Makes it a member that has no regions, neither its own nor those of others: for applications. */
    public FarmNodeContext withoutMemory() {
        regions = 0;
        offersMemory = false;
        return this;
    }

    /** Sets how many requests of each window may be under way to each machine. */
    public FarmNodeContext window(int requests) {
        window = requests;
        return this;
    }

    /** Sets the longest message, which limits what a transaction may write on one machine. */
    public FarmNodeContext longestMessage(int bytes) {
        longestMessage = bytes;
        return this;
    }

    /** Sets how many READs may be under way. */
    public FarmNodeContext reads(int count) {
        reads = count;
        return this;
    }

    /** Sets how long the node's thread may wait for another machine to accept. */
    public FarmNodeContext connectTimeoutNs(long ns) {
        connectTimeoutNs = ns;
        return this;
    }

    /** Sets the clock of this machine, and how an application waits for the node's thread. */
    public FarmNodeContext time(NanoClock clock, Supplier<IdleStrategy> idle) {
        nanoClock = clock;
        idleStrategy = idle;
        return this;
    }

    /** Sets the functions that machines ship to each other, by their numbers: the same on all machines. */
    public FarmNodeContext functions(Map<Integer, ShippedFunction> newFunctions) {
        functions = Map.copyOf(newFunctions);
        return this;
    }

    /** Sets what pauses are drawn from. */
    public FarmNodeContext random(RandomGenerator generator) {
        random = generator;
        return this;
    }

    /** Sets how memory is written. */
    public FarmNodeContext steps(MemorySteps newSteps) {
        steps = newSteps;
        return this;
    }

    /** Checks. */
    FarmNodeContext conclude() {
        if (regions < 0
                || window < 1
                || window > MOST_WINDOW
                || reads < 1
                || longestMessage < NodeMessageDescriptor.RESULT_OFFSET) {
            throw new IllegalArgumentException("regions=" + regions + ", window=" + window + ", reads=" + reads
                    + ", longestMessage=" + longestMessage + ": expected at least 0, 1 to " + MOST_WINDOW
                    + ", at least 1, at least " + NodeMessageDescriptor.RESULT_OFFSET);
        }
        return this;
    }

    InetSocketAddress address() {
        return address;
    }

    long cluster() {
        return cluster;
    }

    SpaceShape shape() {
        return shape;
    }

    MembershipSettings membership() {
        return membership;
    }

    int regions() {
        return regions;
    }

    boolean offersMemory() {
        return offersMemory;
    }

    int window() {
        return window;
    }

    int longestMessage() {
        return longestMessage;
    }

    int reads() {
        return reads;
    }

    long connectTimeoutNs() {
        return connectTimeoutNs;
    }

    NanoClock nanoClock() {
        return nanoClock;
    }

    IdleStrategy idleStrategy() {
        return idleStrategy.get();
    }

    Map<Integer, ShippedFunction> functions() {
        return functions;
    }

    RandomGenerator random() {
        return random;
    }

    MemorySteps steps() {
        return steps;
    }
}
