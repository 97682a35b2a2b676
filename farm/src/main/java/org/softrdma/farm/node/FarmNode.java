package org.softrdma.farm.node;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Function;
import org.agrona.CloseHelper;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.ManyToOneConcurrentLinkedQueue;
import org.softrdma.farm.membership.FarmConfiguration;
import org.softrdma.farm.membership.FarmMembership;
import org.softrdma.farm.membership.Member;
import org.softrdma.farm.membership.PlacementPolicy;
import org.softrdma.farm.membership.RegionPlacement;
import org.softrdma.farm.membership.Rings;
import org.softrdma.farm.memory.FatPointer;
import org.softrdma.farm.memory.LockFreeReader;
import org.softrdma.farm.memory.ObjectImage;
import org.softrdma.farm.message.NodeMessageDescriptor;
import org.softrdma.farm.message.NodeMessageKind;
import org.softrdma.farm.space.FarmSpace;
import org.softrdma.farm.space.SpaceShape;
import org.softrdma.stores.StoreCounters;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * One machine of a shared address space (Dragojevic et al., FaRM, NSDI 2014). It is a study: keep your data elsewhere.
 *
 * <p>One thread calls {@link #doWork} again and again, and closes the node. Any other thread may ask for something; it
 * waits until the node's thread has done it, so the node's thread itself must not ask. A node that is no member any more does nothing; what waits fails.
 */
public final class FarmNode implements AutoCloseable {
    /** Looks at an object that is being changed: half a minute or so. */
    static final int MOST_FAILURES = 10_000;

    static final String REMOVED = "this machine is no member any more";

    private final VerbsDevice device;
    private final FarmMembership membership;
    private final ProtectionDomain domain;
    private final FarmNodeContext context;
    private final NodeParts parts;
    private final RegionCopies copies;
    private final Queue<NodeTask> submitted = new ManyToOneConcurrentLinkedQueue<>();
    private final List<NodeTask> tasks = new ArrayList<>();
    private int epoch;
    private FarmConfiguration placedFor = FarmConfiguration.NONE;
    private int idleTurns;
    private volatile boolean over;

    /**
     * A node that is no member yet.
     *
     * @param device of the machine; the node does not close it. In manual progress the thread that opened it is the
     *     node's, and rests in {@link VerbsDevice#progress}, which what other threads ask for ends
     * @param membership its session; the node closes it
     * @param context what the node is made of
     */
    public FarmNode(VerbsDevice device, FarmMembership membership, FarmNodeContext context) {
        this.device = device;
        this.membership = membership;
        this.context = context.conclude();
        domain = device.allocateProtectionDomain();
        Member member = new Member(membership, context.membership());
        FarmSpace space = new FarmSpace(device, domain, context.shape(), context.steps(), membership.machine());
        int longest = context.shape().lengthInMemory(0, context.shape().longest());
        NodeReads reads = null;
        try {
            reads = new NodeReads(device, domain, context.reads(), longest);
            NodeTransactions transactions = new NodeTransactions(member, space, context, this::send);
            Peers peers = new Peers(device, domain, membership, member, reads, transactions::truncated, context);
            parts = new NodeParts(
                    member,
                    space,
                    peers,
                    reads,
                    this::onRequest,
                    new LockFreeReader(context.shape().checksums()),
                    transactions,
                    context,
                    new StoreCounters(),
                    new SpareReservations());
            copies = new RegionCopies(parts);
        } catch (RuntimeException e) {
            CloseHelper.closeAll(reads, space, domain);
            throw e;
        }
    }

    // ---- what applications ask for; any thread

    /**
     * Reads an object as it was at one instant, without a lock.
     *
     * @param address of the object
     * @param length of header and payload
     * @throws FarmException if there is no such place, or this machine is no member any more
     */
    public ObjectImage read(long address, int length) {
        ObjectImage image = new ObjectImage();
        await(SpaceRead.of(parts, address, length, MOST_FAILURES, image));
        return image;
    }

    /**
     * Reads the object that a fat pointer points to, as it was at one instant, without a lock.
     *
     * @param pointer to it
     * @param image gets it
     * @return false if it is no more: it was freed, or its incarnation has gone up for another reason
     * @throws FarmException if there is no such place, or this machine is no member any more
     */
    public boolean read(FatPointer pointer, ObjectImage image) {
        PointerJudge judge = new PointerJudge(parts.reader(), image);
        judge.expect(pointer.length(), pointer.incarnation());
        await(SpaceRead.of(parts, pointer.address(), pointer.length(), MOST_FAILURES, judge));
        return !judge.isGone();
    }

    /**
     * Reads objects whose places lie one behind the other, by one READ.
     *
     * @param address of the first
     * @param bytes of all, with their line versions
     * @param judge says whether that is what was there at one instant, and takes it; until then it is READ again
     * @throws FarmException if there is no such place, or this machine is no member any more
     */
    public void read(long address, int bytes, ReadJudge judge) {
        await(new SpaceRead(parts, address, bytes, MOST_FAILURES, judge));
    }

    /**
     * Reserves room for an object.
     *
     * @param length of header and payload
     * @param hint address of an object that it is to be near: in its block, its region, or its ring; {@link
     *     org.softrdma.farm.memory.FarmAddress#NONE} for here
     * @return its address
     * @throws FarmException if there is no room, or this machine is no member any more
     */
    public long reserve(int length, long hint) {
        SpaceAllocation allocation = new SpaceAllocation(parts, length, hint);
        await(allocation);
        return allocation.reservation().address();
    }

    /**
     * Runs a transaction: strictly serializable, or without effect.
     *
     * @param attempts how often it begins again after it was aborted
     * @param body what it does; it may run several times, and must have no other effect. What it throws ends it
     * @return what came of it
     * @throws FarmException if something that it needs is lost, or this machine is no member any more
     */
    public <T> TransactionOutcome<T> transact(int attempts, TransactionBody<T> body) {
        TransactionOutcome<T> outcome = new TransactionOutcome.Aborted<>("attempts=" + attempts);
        for (int i = 0; i < attempts && outcome instanceof TransactionOutcome.Aborted<T>; i++) {
            outcome = attempt(body);
        }
        return outcome;
    }

    private <T> TransactionOutcome<T> attempt(TransactionBody<T> body) {
        FarmTransaction transaction = new FarmTransaction(parts, this::await);
        TransactionOutcome<T> outcome = new TransactionOutcome.Aborted<>("its body has failed");
        try {
            outcome = attempt(transaction, body);
            return outcome;
        } finally {
            if (outcome instanceof TransactionOutcome.Aborted<T>) {
                transaction.giveUp();
            }
        }
    }

    private <T> TransactionOutcome<T> attempt(FarmTransaction transaction, TransactionBody<T> body) {
        T value;
        try {
            value = body.run(transaction);
        } catch (FarmTransaction.Abandoned e) {
            return new TransactionOutcome.Aborted<>(String.valueOf(e.getMessage()));
        }
        if (!transaction.needsCommit()) {
            return new TransactionOutcome.Committed<>(value);
        }
        CommitTask commit = new CommitTask(parts, transaction);
        if (!isDone(commit) && !commit.isBegun()) {
            throw removed();
        }
        commit.requireSuccess();
        return commit.outcome(value);
    }

    /**
     * Runs a function at the primary of an object, as a transaction of that machine: one message, and one to each replica,
     * or fewer if others are shipped there at the same time.
     *
     * @param attempts how often it begins again after it was aborted
     * @param address of the object
     * @param function number of the function in {@link FarmNodeContext#functions}
     * @param argument bytes for it
     * @return what it returned
     * @throws FarmException if it threw, or the object is lost, or this machine is no member any more
     */
    public TransactionOutcome<Long> ship(int attempts, long address, int function, byte[] argument) {
        return ship(attempts, address, function, argument, FunctionTask.RESULT);
    }

    /**
     * The same, of a function that {@link org.softrdma.farm.transaction.LocalObjects#tell tells} more than its result.
     *
     * @param attempts how often it begins again after it was aborted
     * @param address of the object
     * @param function number of the function in {@link FarmNodeContext#functions}
     * @param argument bytes for it
     * @return what it returned, 8 bytes, and behind that what it has told; little endian
     * @throws FarmException if it threw, or the object is lost, or this machine is no member any more
     */
    public TransactionOutcome<ByteBuffer> ask(int attempts, long address, int function, byte[] argument) {
        return ship(attempts, address, function, argument, FunctionTask.ALL);
    }

    private <T> TransactionOutcome<T> ship(
            int attempts, long address, int function, byte[] argument, Function<ByteBuffer, T> decoder) {
        TransactionOutcome<T> outcome = new TransactionOutcome.Aborted<>("attempts=" + attempts);
        for (int i = 0; i < attempts && outcome instanceof TransactionOutcome.Aborted<T>; i++) {
            FunctionTask<T> task = new FunctionTask<>(parts, address, function, argument, decoder);
            if (!isDone(task) && !task.isBegun()) {
                throw removed();
            }
            task.requireSuccess();
            outcome = task.outcome();
        }
        return outcome;
    }

    /**
     * Says where regions shall be. Copies begin soon; the policy holds until another one replaces it, whoever is a member.
     *
     * @param policy instead of the one before
     * @throws FarmException if this machine is no member any more
     */
    public void setPolicy(PlacementPolicy policy) {
        await(new PolicyTask(parts, policy));
    }

    /**
     * Who has what, as this machine knows it.
     *
     * @throws FarmException if this machine is no member any more
     */
    public FarmConfiguration configuration() {
        ConfigurationTask task = new ConfigurationTask(parts);
        await(task);
        return task.configuration();
    }

    /** Lengths of the address space. Any thread. */
    public SpaceShape shape() {
        return context.shape();
    }

    /** The longest message, which limits what a transaction writes on one machine. Any thread. */
    public int longestMessage() {
        return context.longestMessage();
    }

    /** Hands a task over, and waits for it. */
    void await(NodeTask task) {
        await(task, task::requireSuccess);
    }

    private void await(NodeTask task, Runnable then) {
        if (!isDone(task)) {
            throw removed();
        }
        then.run();
    }

    /** Hands a task over, and waits for it: false if this machine is no member any more before it is done. */
    private boolean isDone(NodeTask task) {
        submitted.add(task);
        device.wakeUp();
        IdleStrategy idle = context.idleStrategy();
        while (!task.isDone() && !over) {
            idle.idle();
        }
        return task.isDone();
    }

    static FarmException removed() {
        return new FarmException(REMOVED);
    }

    /** True once this machine is no member any more, and never will be. */
    public boolean isOver() {
        return over;
    }

    // ---- the node's thread

    /** What its tasks share. */
    NodeParts parts() {
        return parts;
    }

    /**
     * Reads for an application that runs on the node's thread, and so must not wait.
     *
     * @param window how many may be under way
     */
    public PolledReads polledReads(int window) {
        return new PolledReads(parts, window, tasks, this::isOver);
    }

    /**
     * Transactions for an application that runs on the node's thread, and so must not wait.
     *
     * @param window how many may be under way
     */
    public PolledTransactions polledTransactions(int window) {
        return new PolledTransactions(parts, window, tasks, this::isOver);
    }

    /** Does what there is to do; returns how much that was. */
    public int doWork() {
        if (over) {
            return 0;
        }
        Member member = parts.member();
        int work = member.doWork(parts.clock().nanoTime());
        if (member.isFenced()) {
            close();
            return work + 1;
        }
        if (member.configuration() != parts.space().configuration()) {
            learn(member);
        }
        if (member.isRunning() && placedFor != member.configuration()) {
            placedFor = member.configuration();
            makeRegion(member);
        }
        work += parts.peers().doWork(parts.own(), idleTurns > 1); // a polling application works after each turn
        for (NodeTask task = submitted.poll(); task != null; task = submitted.poll()) {
            tasks.add(task);
        }
        long nowNs = parts.clock().nanoTime();
        work += parts.transactions().doWork(nowNs) + copies.doWork(nowNs);
        for (int i = tasks.size() - 1; i >= 0; i--) {
            NodeTask task = tasks.get(i);
            if (task.advance(nowNs)) {
                work++;
                tasks.remove(i);
                task.complete();
            }
        }
        work += parts.reads().takeBegun();
        idleTurns = work == 0 ? idleTurns + 1 : 0;
        return work;
    }

    /** A new configuration. Of a new epoch: nothing of older ones is taken any more, so it can be acknowledged. */
    private void learn(Member member) {
        boolean newEpoch = epoch != member.epoch();
        epoch = member.epoch();
        if (newEpoch) {
            parts.peers().onEpoch();
            parts.transactions().giveUp();
            tasks.forEach(NodeTask::onEpoch);
        }
        parts.space().onConfiguration(member.configuration());
        if (newEpoch) {
            parts.transactions().onEpoch();
            copies.onEpoch();
        }
        member.acknowledge();
    }

    /** Makes one region more, if this machine has fewer than it is to have. */
    private void makeRegion(Member member) {
        SortedSet<Integer> drained = new TreeSet<>(member.drained());
        if (member.configuration().regionsOf(member.machine()) < context.regions()
                && !drained.contains(member.machine())) {
            Rings rings = context.membership().rings();
            int region = parts.space().newRegion(rings, context.random().nextInt(rings.count()));
            if (region != Rings.NONE) {
                SortedSet<Integer> members =
                        new TreeSet<>(member.configuration().members());
                members.removeAll(drained);
                List<Integer> machines = Rings.order(region, members);
                int count = Math.min(machines.size(), context.membership().replication());
                member.place(region, new RegionPlacement(machines.getFirst(), machines.subList(1, count), List.of()));
            }
        }
    }

    private void onRequest(int machine, ByteBuffer request, Peers.AnswerHandler reply) {
        NodeMessageKind kind = NodeMessageDescriptor.kind(request);
        context.steps().step(kind);
        parts.transactions().truncate(machine, request);
        switch (kind) {
            case CAPABILITY -> reply.onAnswer(RegionCapabilities.answer(request, parts.space()));
            case COPY -> reply.onAnswer(CopiedObjects.answer(request, parts.space(), context.longestMessage()));
            case ALLOCATE -> reply.onAnswer(Allocations.answer(request, parts.space()));
            case PREPARE,
                    VALIDATE,
                    COMMIT_REPLICA,
                    COMMIT_PRIMARY,
                    ABORT,
                    RECORD,
                    SHIP,
                    RUN,
                    IN_DOUBT,
                    DECIDE_REPLICA,
                    DECIDE_PRIMARY,
                    RECOVERED -> parts.transactions().onRequest(machine, request, reply);
        }
    }

    private void send(int machine, ByteBuffer message, Consumer<ByteBuffer> onAnswer) {
        parts.request(machine, message, onAnswer::accept);
    }

    /** Leaves: what waits fails. The node's thread. */
    @Override
    public void close() {
        if (!over) {
            over = true;
            CloseHelper.closeAll(parts.peers(), parts.reads(), parts.space(), domain, membership);
        }
    }
}
