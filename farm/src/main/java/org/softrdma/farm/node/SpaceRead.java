package org.softrdma.farm.node;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.softrdma.farm.membership.RegionPlacement;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.memory.ObjectImage;
import org.softrdma.farm.memory.ReadVerdict;
import org.softrdma.farm.space.FarmRegion;
import org.softrdma.stores.StoreCounter;
import org.softrdma.verbs.RemoteRegion;

/**
 * A lock-free read of an object, or of several whose places lie one behind the other: one READ of the region's primary, or
 * of this machine's own memory. It counts if this machine still runs in the epoch in which it began, and holds its lease
 * after the READ has completed; else it begins again. The node's thread.
 */
final class SpaceRead extends NodeTask implements NodeReads.ReadWaiter {
    /** Looks for a region that nobody has told of, in half a second or so. */
    static final int MOST_LOOKS = 200;

    private enum Step {
        BEGIN,
        ASKING,
        READING,
        DONE
    }

    private final NodeParts node;
    private long address;
    private int bytes;
    private final int mostFailures;
    private final ReadJudge judge;
    private Step step = Step.BEGIN;
    private long notBeforeNs = Long.MIN_VALUE;
    private int failures;
    private int epoch;
    private boolean givenUp;

    /**
     * A read.
     *
     * @param node where
     * @param address of what is read
     * @param bytes of it, with line versions
     * @param mostFailures how often it may be seen in the middle of a change
     * @param judge says whether it is what it was at one instant
     */
    SpaceRead(NodeParts node, long address, int bytes, int mostFailures, ReadJudge judge) {
        this.node = node;
        this.address = address;
        this.bytes = bytes;
        this.mostFailures = mostFailures;
        this.judge = judge;
    }

    /**
     * A read of one object.
     *
     * @param node where
     * @param address of the object
     * @param length of header and payload
     * @param mostFailures how often it may be seen in the middle of a change
     * @param image gets the object
     */
    static SpaceRead of(NodeParts node, long address, int length, int mostFailures, ObjectImage image) {
        return of(
                node,
                address,
                length,
                mostFailures,
                (memory, at, start) -> node.reader().read(memory, at, start, length, image));
    }

    /**
     * A read of one object.
     *
     * @param node where
     * @param address of the object
     * @param length of header and payload
     * @param mostFailures how often it may be seen in the middle of a change
     * @param judge says whether it is what it was at one instant, and takes it
     */
    static SpaceRead of(NodeParts node, long address, int length, int mostFailures, ReadJudge judge) {
        if (!node.space().fits(address, length)) {
            throw new FarmException("no object of " + length + " bytes can be at " + Long.toHexString(address));
        }
        int bytes = node.space().shape().lengthInMemory(FarmAddress.offset(address), length);
        return new SpaceRead(node, address, bytes, mostFailures, judge);
    }

    /**
     * Reads something else, once it is done.
     *
     * @param newAddress of what is read
     * @param newBytes of it, with line versions
     */
    void again(long newAddress, int newBytes) {
        renew();
        address = newAddress;
        bytes = newBytes;
        step = Step.BEGIN;
        notBeforeNs = Long.MIN_VALUE;
        failures = 0;
    }

    /** The epoch in which it was read. */
    int epoch() {
        return epoch;
    }

    /** How often it was seen in the middle of a change. */
    int failures() {
        return failures;
    }

    @Override
    boolean advance(long nowNs) {
        if (step == Step.BEGIN && nowNs >= notBeforeNs && node.member().isRunning()) {
            return begin(nowNs);
        }
        return step == Step.DONE;
    }

    private boolean begin(long nowNs) {
        int region = FarmAddress.region(address);
        int primary = node.space().primary(region);
        if (!node.space().contains(address, bytes) || bytes > node.reads().length()) {
            return fail("no " + bytes + " bytes of objects can be READ at " + Long.toHexString(address));
        }
        if (primary == RegionPlacement.LOST) {
            return onNobody(region, nowNs);
        }
        epoch = node.member().epoch();
        if (primary == node.machine()) {
            FarmRegion own = node.space().region(region);
            return own != null && node.space().serves(region) && judge(own.segment(), FarmAddress.offset(address));
        }
        RemoteRegion capability = node.space().capability(region);
        PeerLink link = node.peers().link(primary);
        if (link == null) {
            return false;
        }
        if (capability == null) {
            ask(region, primary);
            return false;
        }
        int place = node.reads().take(primary, this);
        if (place != NodeReads.NONE) {
            step = Step.READING;
            givenUp = false;
            node.counters().increment(StoreCounter.READS);
            link.read(place, capability.address() + FarmAddress.offset(address), capability.rkey(), bytes);
        }
        return false;
    }

    /** The region is lost, or is so new that this machine has yet to hear of it. */
    private boolean onNobody(int region, long nowNs) {
        if (node.space().configuration().regions().containsKey(region)) {
            return fail(FarmAddress.regionText(region) + " is lost: every machine that had it whole is gone");
        }
        notBeforeNs = node.pauseUntilNs(nowNs, ++failures);
        return failures >= Math.min(mostFailures, MOST_LOOKS) && fail("there is no " + FarmAddress.regionText(region));
    }

    private void ask(int region, int primary) {
        step = Step.ASKING;
        node.request(primary, RegionCapabilities.request(region), answer -> onCapability(region, answer));
    }

    private void onCapability(int region, ByteBuffer answer) {
        step = Step.BEGIN;
        @Nullable RemoteRegion capability = RegionCapabilities.of(answer);
        if (capability == null) {
            notBeforeNs = node.pauseUntilNs(node.clock().nanoTime(), ++failures);
        } else {
            node.space().learn(region, capability);
        }
    }

    @Override
    public void onRead(int place, boolean success) {
        step = Step.BEGIN;
        if (!success) {
            node.space().forget(FarmAddress.region(address));
        } else if (!givenUp) {
            boolean _ = judge(node.reads().segment(), node.reads().offset(place));
        }
    }

    /** True if it is done. */
    private boolean judge(MemorySegment memory, long at) {
        ReadVerdict verdict = judge.judge(memory, at, FarmAddress.offset(address));
        long nowNs = node.clock().nanoTime(); // behind the READ: what it brought was there while the lease held
        step = Step.BEGIN;
        if (!node.member().counts(epoch, nowNs)) {
            notBeforeNs = node.pauseUntilNs(nowNs, MOST_LOOKS); // until the lease is renewed, or an epoch begins
            return false;
        }
        if (verdict == ReadVerdict.CONSISTENT) {
            step = Step.DONE;
            return true;
        }
        node.counters().increment(StoreCounter.LINE_RETRIES);
        notBeforeNs = node.pauseUntilNs(nowNs, ++failures);
        if (failures >= mostFailures) {
            step = Step.DONE;
            return fail("the object at " + Long.toHexString(address) + " was being changed " + failures + " times");
        }
        return false;
    }

    @Override
    void onEpoch() {
        givenUp = true; // a READ that is under way lands yet, and must not land behind another one
        if (step == Step.ASKING) {
            step = Step.BEGIN;
        }
    }
}
