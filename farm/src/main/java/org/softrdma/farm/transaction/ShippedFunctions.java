package org.softrdma.farm.transaction;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.message.NodeMessageDescriptor;
import org.softrdma.farm.message.NodeVerdict;
import org.softrdma.farm.space.FarmSpace;

/**
 * Runs functions that machines ship to the primary of an object. All that can run at the same time are one transaction
 * ("inspired by flat combining", section 3.6 of the paper), which {@link SingleMachineCommits} commits: while it waits for
 * its replicas its objects are locked, and functions that want them gather for the next one. A function that came too late
 * for a RECORD is in none of its writes, so nothing ever joins a transaction that was sent.
 *
 * <p>A function that comes twice runs once, also if an epoch lies between: its result is kept until its number is over. What
 * an epoch interrupts is answered when its transaction is recovered. No socket. The node's thread.
 */
public final class ShippedFunctions {
    /** How long a function waits for a lock, or until this machine may begin a transaction. */
    private static final long PATIENCE_NS = TimeUnit.MILLISECONDS.toNanos(100);

    /** Where the bytes are that a function has told besides its result. */
    public static final int TOLD_OFFSET = NodeMessageDescriptor.RESULT_OFFSET + Long.BYTES;

    private final FarmSpace space;
    private final Map<Integer, ShippedFunction> functions;
    private final SingleMachineCommits commits;
    private final Machine machine;
    private final int longestMessage;
    private final List<Waiting> queue = new ArrayList<>();
    /** By whoever has shipped them: under way, or done and perhaps asked for again. */
    private final Map<TxId, Waiting> known = new HashMap<>();

    /** What it needs of its machine. */
    public interface Machine {
        /**
         * Begins the next transaction of this machine, and names it.
         *
         * @param onRecovered is told what came of it, if an epoch interrupts it
         */
        TxId begin(Consumer<Coordinator.Told> onRecovered);

        /** True if it may begin one more. */
        boolean mayBegin();

        /** A transaction of this machine is over everywhere. */
        void over(TxId id);

        /** The transactions of this machine up to here are over. */
        long truncated();

        /** True while what is read here is still so: this machine runs, and its lease holds. */
        boolean mayAnswer();
    }

    private static final class Waiting {
        private final ByteBuffer run;
        private final long untilNs;
        private Consumer<ByteBuffer> reply;
        private long result;
        private byte[] told = {};
        private boolean isDone;

        Waiting(ByteBuffer run, long untilNs, Consumer<ByteBuffer> reply) {
            this.run = run;
            this.untilNs = untilNs;
            this.reply = reply;
        }

        void answer(NodeVerdict verdict) {
            reply.accept(NodeMessageDescriptor.answer(verdict, Long.BYTES + told.length)
                    .putLong(NodeMessageDescriptor.RESULT_OFFSET, result)
                    .put(TOLD_OFFSET, told));
        }
    }

    /** Functions that are one transaction. */
    private static final class Batch {
        private final LocalObjects objects;
        private final List<Waiting> ran = new ArrayList<>();

        Batch(LocalObjects objects) {
            this.objects = objects;
        }
    }

    /**
     * None.
     *
     * @param space of this machine
     * @param functions by their numbers, the same on every machine
     * @param commits of this machine
     * @param machine this one
     * @param longestMessage what a transaction may need at a replica
     */
    public ShippedFunctions(
            FarmSpace space,
            Map<Integer, ShippedFunction> functions,
            SingleMachineCommits commits,
            Machine machine,
            int longestMessage) {
        this.space = space;
        this.functions = Map.copyOf(functions);
        this.commits = commits;
        this.machine = machine;
        this.longestMessage = longestMessage;
    }

    /**
     * The message that ships a function.
     *
     * @param id of the transaction, by whoever ships it
     * @param address of an object that the receiver serves
     * @param function number of the function
     * @param argument bytes for it
     */
    public static ByteBuffer run(TxId id, long address, int function, byte[] argument) {
        return TransactionMessages.run(id, address, function, argument);
    }

    /**
     * A function comes.
     *
     * @param message RUN; it may come twice
     * @param nowNs by this machine's clock
     * @param reply takes the answer, at once or later; never, if an epoch comes before it
     */
    public void onRun(ByteBuffer message, long nowNs, Consumer<ByteBuffer> reply) {
        if (!TransactionMessages.isValid(message) || !functions.containsKey(TransactionMessages.function(message))) {
            reply.accept(NodeMessageDescriptor.answer(NodeVerdict.REFUSED, 0));
            return;
        }
        TxId id = TransactionMessages.id(message);
        Waiting again = known.get(id);
        if (again == null) {
            Waiting waiting = new Waiting(message, nowNs + PATIENCE_NS, reply);
            known.put(id, waiting);
            queue.add(waiting);
        } else if (again.isDone) {
            again.reply = reply;
            again.answer(NodeVerdict.DONE);
        } else {
            again.reply = reply;
        }
    }

    /**
     * Runs what can run, and commits it.
     *
     * @param nowNs by this machine's clock
     * @return how many functions have run
     */
    public int doWork(long nowNs) {
        if (queue.isEmpty()) {
            return 0;
        }
        boolean mayBegin = machine.mayBegin();
        Map<Set<Integer>, Batch> batches = new HashMap<>();
        for (Iterator<Waiting> each = queue.iterator(); each.hasNext(); ) {
            Waiting waiting = each.next();
            int region = FarmAddress.region(TransactionMessages.address(waiting.run));
            Batch batch = batches.computeIfAbsent(
                    LocalObjects.machines(space, region), any -> new Batch(new LocalObjects(space, region)));
            NodeVerdict verdict = mayBegin ? run(waiting, batch) : NodeVerdict.NOT_READY;
            if (verdict == NodeVerdict.DONE) {
                batch.ran.add(waiting);
                each.remove();
            } else if (verdict == NodeVerdict.REFUSED || nowNs - waiting.untilNs >= 0) {
                each.remove();
                end(waiting, verdict);
            }
        }
        int ran = 0;
        for (Batch batch : batches.values()) {
            ran += batch.ran.size();
            commit(batch);
        }
        return ran;
    }

    /** DONE; LOCKED or NOT_READY, if it is to be tried again; REFUSED, if it throws. */
    private NodeVerdict run(Waiting waiting, Batch batch) {
        LocalObjects objects = batch.objects;
        ShippedFunction function = functions.get(TransactionMessages.function(waiting.run));
        if (function == null) {
            return NodeVerdict.REFUSED;
        }
        try {
            waiting.result = function.run(
                    objects, TransactionMessages.address(waiting.run), TransactionMessages.argument(waiting.run));
        } catch (LocalObjects.Locked e) {
            objects.undo();
            return NodeVerdict.LOCKED;
        } catch (RuntimeException e) {
            objects.undo();
            return NodeVerdict.REFUSED;
        }
        byte[] told = objects.takeTold();
        if (TOLD_OFFSET + told.length > longestMessage) {
            objects.undo();
            return NodeVerdict.REFUSED;
        }
        if (SingleMachineCommits.lengthOf(objects.written(), objects.read()) > longestMessage) {
            objects.undo();
            return batch.ran.isEmpty() ? NodeVerdict.REFUSED : NodeVerdict.NOT_READY;
        }
        objects.keep();
        waiting.told = told;
        return NodeVerdict.DONE;
    }

    private void commit(Batch batch) {
        List<WriteEntry> written = batch.objects.written();
        if (written.isEmpty()) {
            boolean mayAnswer = machine.mayAnswer();
            batch.ran.forEach(waiting -> end(waiting, mayAnswer ? NodeVerdict.DONE : NodeVerdict.NOT_READY));
            return;
        }
        TxId id = machine.begin(told -> recovered(batch, told));
        ByteBuffer ship = SingleMachineCommits.ship(id, written, batch.objects.read(), machine.truncated());
        commits.onShip(ship, answer -> {
            NodeVerdict verdict = NodeMessageDescriptor.verdict(answer);
            if (verdict == NodeVerdict.UNDECIDED) { // it is known until it is recovered
                batch.ran.forEach(waiting -> waiting.answer(verdict));
            } else {
                machine.over(id);
                batch.ran.forEach(waiting -> end(waiting, verdict));
            }
        });
    }

    /** An epoch has interrupted it. What did not commit runs again if it comes again. */
    private void recovered(Batch batch, Coordinator.Told told) {
        NodeVerdict verdict = switch (told) {
            case COMMITTED -> NodeVerdict.DONE;
            case ABORTED -> NodeVerdict.NOT_READY;
            case NOTHING, UNKNOWN -> NodeVerdict.REFUSED;
        };
        batch.ran.forEach(waiting -> end(waiting, verdict));
    }

    private void end(Waiting waiting, NodeVerdict verdict) {
        waiting.isDone = verdict == NodeVerdict.DONE;
        if (!waiting.isDone) {
            known.remove(TransactionMessages.id(waiting.run));
        }
        waiting.answer(verdict);
    }

    /** Functions that a machine has shipped are over up to this number: it has their results. */
    public void truncate(int shipper, long number) {
        known.values().removeIf(waiting -> {
            TxId id = TransactionMessages.id(waiting.run);
            return waiting.isDone && id.machine() == shipper && id.number() <= number;
        });
    }

    /** An epoch was learnt: nobody waits any more, and what has not run does not run unless it comes again. */
    public void onEpoch() {
        queue.forEach(waiting -> known.remove(TransactionMessages.id(waiting.run)));
        queue.clear();
        known.values().forEach(waiting -> waiting.reply = answer -> {});
        known.keySet().removeIf(id -> !space.configuration().members().contains(id.machine()));
    }
}
