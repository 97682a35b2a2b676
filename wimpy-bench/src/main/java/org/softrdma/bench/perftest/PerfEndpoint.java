package org.softrdma.bench.perftest;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.softrdma.bench.measurement.Completions;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.MemorySource;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendOpcode;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * One end of a test: a control queue pair with its messages, data queue pairs with their memory, and the loop that hands
 * completions on. The memory of data queue pair {@code i} begins at {@code i * stride()}: what it sends and what peers READ
 * and WRITE, then what it receives. Belongs to the thread that made it.
 */
final class PerfEndpoint implements AutoCloseable {
    static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(30);
    /** Longer than an answer takes where nobody waits for a processor. */
    private static final int LOOKS_BEFORE_YIELD = 1024;

    /** Kinds of work request, the top byte of a wrId; below it 24 bits of queue pair and 32 bits of count. */
    static final int CONTROL = 1;

    static final int DATA = 2;
    static final int RECEIVE = 3;
    static final int CREDIT = 4;
    static final int LAST = 5;

    private static final int KIND_SHIFT = 56;
    private static final int QUEUE_PAIR_SHIFT = 32;
    private static final int QUEUE_PAIR_MASK = 0xFFFFFF;
    private static final int CONTROL_RECEIVES = 8;
    private static final int CONTROL_ENTRIES = 64;
    private static final int COMPLETIONS_PER_POLL = 64;
    private static final long ALIGNMENT = 64;

    private final VerbsDevice device;
    private final ProtectionDomain domain;
    private final Completions completions;
    private final WorkCompletion[] polled = WorkCompletion.array(COMPLETIONS_PER_POLL);
    private final MemorySource source;
    private final HostMemory controlMemory;
    private final MemoryRegion controlRegion;
    private final QueuePairAttributes controlAttributes;
    private final Queue<PerfMessage> arrived = new ArrayDeque<>();
    private @Nullable QueuePair control;
    private final List<QueuePair> data = new ArrayList<>();
    private @Nullable HostMemory dataMemory;
    private @Nullable MemoryRegion dataRegion;
    private @Nullable QueuePairAttributes dataAttributes;
    private RemoteRegion remote = new RemoteRegion(0, 0, 0);
    private OptionalLong word = OptionalLong.empty();
    private long half;
    private int controlSends;
    private boolean mayEnd;
    private boolean ended;
    /** A failure that came behind a message which nobody has taken yet: that message may say why. */
    private long emptyLooks;

    private @Nullable MeasurementException deferred;

    /**
     * An end without queue pairs.
     *
     * @param device not closed by this
     */
    PerfEndpoint(VerbsDevice device) {
        this(device, new MemorySource.Anonymous());
    }

    /**
     * An end without queue pairs.
     *
     * @param device not closed by this
     * @param source where the memory of the data queue pairs comes from
     */
    PerfEndpoint(VerbsDevice device, MemorySource source) {
        this.device = device;
        this.source = source;
        domain = device.allocateProtectionDomain();
        completions = new Completions(device);
        controlMemory = device.allocateMemory((CONTROL_RECEIVES + 1L) * PerfMessage.LENGTH);
        controlRegion =
                domain.register(controlMemory.segment(), EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.RECEIVE_SINK));
        controlAttributes = QueuePairAttributes.of(
                completions.add(CONTROL_ENTRIES), QueuePairLimits.of(CONTROL_RECEIVES, CONTROL_RECEIVES));
    }

    static long wrId(int kind, int queuePair, int count) {
        return (long) kind << KIND_SHIFT | (long) queuePair << QUEUE_PAIR_SHIFT | count;
    }

    static int kind(long wrId) {
        return (int) (wrId >>> KIND_SHIFT);
    }

    static int queuePair(long wrId) {
        return (int) (wrId >>> QUEUE_PAIR_SHIFT) & QUEUE_PAIR_MASK;
    }

    static int count(long wrId) {
        return (int) wrId;
    }

    /**
     * Creates the control queue pair with its RECVs.
     *
     * @param creator how, given its attributes: on a connector or a request
     */
    QueuePair createControl(Function<QueuePairAttributes, QueuePair> creator) {
        QueuePair created = creator.apply(controlAttributes);
        control = created;
        for (int i = 0; i < CONTROL_RECEIVES; i++) {
            postControlReceive(created, i);
        }
        return created;
    }

    /**
     * Prepares memory and completion queue of the data queue pairs.
     *
     * @param queuePairs how many there will be
     * @param largest longest message
     * @param sends size of a send queue
     * @param receives size of a receive queue
     * @param inline most bytes of an inline message
     * @param access further rights of the memory
     */
    void prepareData(int queuePairs, long largest, int sends, int receives, int inline, Set<AccessFlag> access) {
        half = (largest + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        HostMemory memory = device.allocateMemory(queuePairs * stride(), source);
        dataMemory = memory;
        EnumSet<AccessFlag> all = EnumSet.of(
                AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_READ,
                AccessFlag.REMOTE_WRITE,
                AccessFlag.READ_SINK,
                AccessFlag.RECEIVE_SINK);
        all.addAll(access);
        dataRegion = domain.register(memory.segment(), all);
        int entries = Math.multiplyExact(queuePairs, sends + receives);
        dataAttributes =
                QueuePairAttributes.of(completions.add(entries), new QueuePairLimits(sends, receives, 1, 1, inline));
    }

    /**
     * Creates the next data queue pair with all its RECVs.
     *
     * @param creator how, given its attributes
     */
    QueuePair createData(Function<QueuePairAttributes, QueuePair> creator) {
        QueuePair created = creator.apply(prepared(dataAttributes));
        data.add(created);
        int receives = prepared(dataAttributes).limits().maxReceiveWorkRequests();
        for (int i = 0; i < receives; i++) {
            postReceive(data.size() - 1);
        }
        return created;
    }

    ProtectionDomain domain() {
        return domain;
    }

    QueuePair data(int index) {
        return data.get(index);
    }

    int dataCount() {
        return data.size();
    }

    MemoryRegion region() {
        return prepared(dataRegion);
    }

    long stride() {
        return 2 * half;
    }

    /** What peers use of this end's memory. */
    RemoteRegion exported() {
        return region().remote();
    }

    /** Sets what this end uses of its peer's memory. */
    void remote(RemoteRegion region) {
        remote = region;
    }

    long remoteAddress(int queuePair) {
        return remote.address() + queuePair * stride();
    }

    int remoteKey() {
        return remote.rkey();
    }

    /** Sets the word that all atomics go to, in place of one for each queue pair. */
    void oneWord(long address) {
        word = OptionalLong.of(address);
    }

    /**
     * Posts an atomic as perftest does: it adds 1, or puts 0 in the place of 0.
     *
     * @param opcode which
     * @param queuePair index of the data queue pair
     * @param wrId its number
     */
    PostStatus postAtomic(SendOpcode opcode, int queuePair, long wrId, int flags) {
        long to = word.isPresent() ? word.getAsLong() : remoteAddress(queuePair);
        long offset = queuePair * stride();
        return opcode == SendOpcode.COMPARE_AND_SWAP
                ? data.get(queuePair).postCompareAndSwap(wrId, region(), offset, to, remoteKey(), 0, 0, flags)
                : data.get(queuePair).postFetchAndAdd(wrId, region(), offset, to, remoteKey(), 1, flags);
    }

    /** Posts the RECV that was used back. */
    void postReceive(int queuePair) {
        require(
                data.get(queuePair)
                        .postReceive(wrId(RECEIVE, queuePair, 1), region(), queuePair * stride() + half, half),
                "RECV");
    }

    /** Sends a control message. */
    void send(PerfMessage message) {
        long offset = (long) CONTROL_RECEIVES * PerfMessage.LENGTH;
        message.write(controlMemory.segment().asSlice(offset, PerfMessage.LENGTH));
        // One at a time: the peer answers each before the next is written over it, except the last.
        require(
                prepared(control)
                        .postSend(wrId(CONTROL, 0, 0), controlRegion, offset, PerfMessage.LENGTH, SendFlags.SIGNALLED),
                "control SEND");
        controlSends++;
    }

    /** Waits until the control messages have left, so that closing does not overtake them; the peer may end first. */
    void flush() {
        mayEnd = true;
        long deadlineNs = System.nanoTime() + TIMEOUT_NS;
        while (controlSends > 0 && !ended && System.nanoTime() - deadlineNs < 0) {
            turn(Traffic.NONE, false, TIMEOUT_NS);
        }
    }

    /**
     * Waits without limit for a control message and hands data completions on meanwhile. A peer that is gone has said {@link
     * PerfMessage#BYE}: its data queue pairs may end before that message is seen.
     *
     * @param traffic who takes them
     */
    PerfMessage receiveOrEnd(Traffic traffic) {
        mayEnd = true;
        while (arrived.isEmpty() && !ended) {
            turn(traffic, false, TIMEOUT_NS);
        }
        mayEnd = false;
        PerfMessage message = arrived.poll();
        return message == null ? PerfMessage.of(PerfMessage.BYE) : message;
    }

    /**
     * Waits asleep for a control message and hands data completions on meanwhile.
     *
     * @param kind the one expected
     * @param traffic who takes them
     * @param timeoutNs how long to wait
     * @throws MeasurementException if another came, or none in time
     */
    PerfMessage receive(int kind, Traffic traffic, long timeoutNs) {
        long deadlineNs = System.nanoTime() + timeoutNs;
        while (arrived.isEmpty()) {
            long leftNs = deadlineNs - System.nanoTime();
            if (leftNs <= 0) {
                throw new MeasurementException(
                        "the peer sent nothing for " + TimeUnit.NANOSECONDS.toSeconds(timeoutNs) + " s");
            }
            turn(traffic, false, leftNs);
        }
        PerfMessage message = arrived.remove();
        if (message.kind() == PerfMessage.REFUSED) {
            throw new MeasurementException("the server refused: " + message.text());
        }
        if (message.kind() != kind) {
            throw new MeasurementException(
                    "the peer sent control message " + message.kind() + " where " + kind + " was expected");
        }
        return message;
    }

    /** The control message that has arrived, or null. */
    @Nullable
    PerfMessage arrivedMessage() {
        return arrived.poll();
    }

    /**
     * Waits for completions once and hands them on.
     *
     * @param traffic who takes those of data queue pairs
     * @param spin true to poll without rest
     * @param timeoutNs how long to wait
     * @return how many there were
     */
    int turn(Traffic traffic, boolean spin, long timeoutNs) {
        if (deferred != null) {
            if (!mayEnd) {
                throw deferred;
            }
            ended = true;
            return 0;
        }
        return dispatch(completions.await(polled, spin, timeoutNs), traffic);
    }

    /**
     * Looks for completions once, without waiting, and hands them on. Whoever looks for long without any lets other
     * threads run: with both ends on two processors, the RNIC's thread would wait for the end of a time slice.
     *
     * @param traffic who takes those of data queue pairs
     */
    void look(Traffic traffic) {
        if (deferred != null) {
            throw deferred;
        }
        if (dispatch(completions.look(polled), traffic) > 0) {
            emptyLooks = 0;
        } else if (++emptyLooks % LOOKS_BEFORE_YIELD == 0) {
            Thread.yield();
        }
    }

    private int dispatch(int count, Traffic traffic) {
        for (int i = 0; i < count; i++) {
            dispatch(polled[i], traffic);
        }
        return count;
    }

    private void dispatch(WorkCompletion completion, Traffic traffic) {
        long wrId = completion.wrId();
        if (!completion.isSuccess()) {
            if (mayEnd) {
                ended = true;
            } else if (arrived.isEmpty()) {
                throw failure(completion);
            } else {
                deferred = failure(completion);
            }
            return;
        }
        if (kind(wrId) != CONTROL) {
            traffic.completed(kind(wrId), queuePair(wrId), count(wrId));
        } else if (completion.opcode().isReceive()) {
            int index = count(wrId);
            MemorySegment bytes =
                    controlMemory.segment().asSlice((long) index * PerfMessage.LENGTH, completion.byteLength());
            arrived.add(PerfMessage.read(bytes));
            postControlReceive(prepared(control), index);
        } else {
            controlSends--;
        }
    }

    private MeasurementException failure(WorkCompletion completion) {
        String what = switch (kind(completion.wrId())) {
            case CONTROL -> "the control connection";
            case RECEIVE -> "a RECV on queue pair " + queuePair(completion.wrId());
            default -> "an operation on queue pair " + queuePair(completion.wrId());
        };
        return new MeasurementException(what + " ended with " + completion.status() + " (vendor code 0x"
                + Integer.toHexString(completion.vendorCode()) + "): did the peer go away?");
    }

    private void postControlReceive(QueuePair queuePair, int index) {
        require(
                queuePair.postReceive(
                        wrId(CONTROL, 0, index), controlRegion, (long) index * PerfMessage.LENGTH, PerfMessage.LENGTH),
                "control RECV");
    }

    static void require(PostStatus status, String what) {
        if (status != PostStatus.ACCEPTED) {
            throw new MeasurementException(what + " found its queue full: a bug in softrdma perf or in the provider");
        }
    }

    private static <T> T prepared(@Nullable T value) {
        if (value == null) {
            throw new IllegalStateException("this end is not ready yet");
        }
        return value;
    }

    @Override
    public void close() {
        data.forEach(QueuePair::close);
        if (control != null) {
            control.close();
        }
        if (dataRegion != null) {
            dataRegion.close();
        }
        if (dataMemory != null) {
            dataMemory.close();
        }
        controlRegion.close();
        controlMemory.close();
        completions.close();
        domain.close();
    }
}
