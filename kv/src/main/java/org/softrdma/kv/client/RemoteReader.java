package org.softrdma.kv.client;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.NanoClock;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.client.place.LocatorCache;
import org.softrdma.kv.client.place.Registration;
import org.softrdma.kv.client.rdma.LoopMember;
import org.softrdma.kv.client.rdma.ReaderQueuePair;
import org.softrdma.kv.client.rdma.ReaderSettings;
import org.softrdma.kv.client.rdma.ServerTalk;
import org.softrdma.kv.item.ItemDescriptor;
import org.softrdma.kv.item.Locator;
import org.softrdma.kv.message.AnswerDescriptor;
import org.softrdma.kv.message.HelloDescriptor;
import org.softrdma.kv.message.TokenPlace;
import org.softrdma.verbs.WorkCompletion;

/**
 * READs items into the slots of one queue pair and checks what came; has the server write items there that are not
 * known, or whose READ failed. A READ that finds a forward locator is posted again once, into the same slot. What was
 * READ is reported to the server. Allocates nothing per READ. Owned by the thread of its loop.
 */
final class RemoteReader implements LoopMember, AutoCloseable {
    /** No slot is free. */
    static final int NO_SLOT = -1;

    /** An rget's opaque number is a count, and in its lower bits the slot. */
    private static final int OPAQUE_SHIFT = 16;

    private static final long OPAQUE_SLOT_MASK = (1L << OPAQUE_SHIFT) - 1;

    private static final long WAIT_SLICE_NS = TimeUnit.MILLISECONDS.toNanos(1);

    private final CompletionLoop loop;
    private final NanoClock nanoClock;
    private final int maxItemLength;
    private final ItemPlaces places;
    private final LocatorCache locators;
    private final Registration registration;
    private final KvClientCounters counters;
    private final ItemCheck check = new ItemCheck();
    private final SlotPool slots;
    private final ReaderQueuePair queuePair;
    private final ServerTalk talk;
    private final RemoteItem view = new RemoteItem();
    /** Of the keys that are being started. */
    private final long[] hashes;
    /** Consumes prefetched bytes, so that the JIT keeps the loads. */
    long fetched;

    /** In the hands of a {@link ReadHandler}, which may lose the connection. */
    private @Nullable ReadSlot delivering;

    private boolean abandoned;
    private long rgets;
    private int rgetsOutstanding;
    private @Nullable String failure;

    /**
     * Connects.
     *
     * @param loop outlives it
     * @param hello of the server
     * @param places of the connection, which knows what the server's locators mean
     */
    RemoteReader(
            CompletionLoop loop,
            KvClientContext context,
            ServerHello hello,
            ItemPlaces places,
            KvClientCounters counters) {
        this.loop = loop;
        this.nanoClock = context.nanoClock();
        this.maxItemLength = context.maxItemLength();
        this.places = places;
        this.locators = places.locators();
        this.registration = places.registration();
        this.counters = counters;
        slots = new SlotPool(context.window());
        hashes = new long[context.window()];
        boolean shown = hello.tokenPlace() == TokenPlace.PRIVATE_DATA;
        ReaderSettings settings = context.reader();
        queuePair = new ReaderQueuePair(
                loop.members(),
                this,
                settings,
                new InetSocketAddress(context.server().getAddress(), hello.port()),
                shown ? HelloDescriptor.privateData(hello.token()) : new byte[0]);
        talk = new ServerTalk(queuePair, settings, counters.touches);
    }

    /** What is said besides items. */
    ServerTalk talk() {
        return talk;
    }

    /** As {@link #start(byte[], long)} for several items in turn, up to the first that is not started; how many were. */
    int start(byte[][] keys, long[] tags, int count) {
        int wanted = Math.min(count, slots.freeCount());
        for (int i = 0; i < wanted; i++) {
            hashes[i] = places.hash(keys[i]);
            fetched += locators.fetch(hashes[i]);
        }
        int started = 0;
        while (started < wanted && start(hashes[started], keys[started], tags[started]) == StartStatus.STARTED) {
            started++;
        }
        return started;
    }

    /** Starts a READ of an item whose place is known, for {@link #deliver}; the loop posts it. */
    StartStatus start(byte[] key, long tag) {
        return start(places.hash(key), key, tag);
    }

    private StartStatus start(long hash, byte[] key, long tag) {
        int entry = locators.find(hash);
        if (entry == LocatorCache.NONE) {
            return StartStatus.UNKNOWN;
        }
        ReadSlot slot = slots.nextFree();
        if (slot == null) {
            return StartStatus.WINDOW_FULL;
        }
        if (!prepare(slot, entry, hash, key)) {
            return StartStatus.UNKNOWN;
        }
        slots.begin();
        slot.tag = tag;
        addRead(slot);
        return StartStatus.STARTED;
    }

    /** Takes a slot, or {@link #NO_SLOT}. */
    int acquire(GetRequest owner) {
        ReadSlot slot = slots.acquire(owner);
        return slot == null ? NO_SLOT : slot.number;
    }

    /** Gives a slot back. */
    void release(int slot) {
        slots.release(slots.get(slot));
    }

    /** True if {@link #acquire} would find a slot. */
    boolean hasFreeSlot() {
        return slots.hasFree();
    }

    /** Starts a READ into the slot of a request with the next {@link #flush}; false if the place is not known. */
    boolean read(int number, long hash, byte[] key) {
        ReadSlot slot = slots.get(number);
        int entry = locators.find(hash);
        if (entry == LocatorCache.NONE || !prepare(slot, entry, hash, key)) {
            return false;
        }
        addRead(slot);
        return true;
    }

    /** Posts the READs of requests with one doorbell. */
    void flush() {
        queuePair.flush();
    }

    /** The words of an rget that has the server write into a slot: rkey, address, length, opaque number. */
    String beginWritten(int number) {
        ReadSlot slot = slots.get(number);
        rgets++;
        rgetsOutstanding++;
        slot.opaque = rgets << OPAQUE_SHIFT | number;
        slot.askedNs = nanoClock.nanoTime();
        return " " + queuePair.target(number) + " " + maxItemLength + " " + slot.opaque;
    }

    /** rgets that were not answered. */
    int rgetsOutstanding() {
        return rgetsOutstanding;
    }

    /** True if requests wait for READs or rgets. */
    boolean hasRequests() {
        return slots.isOwned();
    }

    /** Lets requests see the time. */
    void check(DeadlineCheck deadlines) {
        slots.check(deadlines);
    }

    /** Fails all requests that wait here. */
    void fail(KvException reason) {
        slots.fail(reason);
    }

    /** Takes what was started and not delivered off this reader, which is to be closed; the number of tags. */
    int abandon(long[] lostTags) {
        abandoned = true;
        return slots.lost(lostTags, delivering);
    }

    /** Hands over what is ready; the number of results. */
    int deliver(ReadHandler handler) {
        int delivered = 0;
        for (int left = slots.readyCount(); left > 0 && !abandoned; left--) {
            ReadSlot slot = slots.takeReady();
            wrap(slot);
            delivering = slot;
            try {
                handler.onRead(slot.tag, slot.outcome, view);
            } finally {
                delivering = null;
                slots.free(slot);
            }
            delivered++;
        }
        return delivered;
    }

    /** READs of {@link #start} on their way or ready to be delivered. */
    int outstanding() {
        return slots.started();
    }

    /**
     * Checks what the server wrote; the place of an item that still is there is remembered.
     *
     * @param remember false if the key is being written meanwhile
     */
    ReadOutcome checkWritten(int number, long hash, byte[] key, boolean remember) {
        ReadSlot slot = slots.get(number);
        long length = slot.writtenLength;
        if (length < ItemDescriptor.MIN_LENGTH || length > maxItemLength) {
            return ReadOutcome.TORN;
        }
        int item = (int) queuePair.offset(number);
        ReadOutcome outcome = check.checkContent(
                queuePair.sink(), queuePair.sinkView(), item, (int) length, key, ItemCheck.NO_EXPIRY);
        takeLengths(slot);
        if (outcome == ReadOutcome.HIT
                && remember
                && ItemDescriptor.generation(queuePair.sink(), item) == Locator.generation(slot.second)) {
            locators.put(hash, slot.first, slot.second);
        }
        return outcome;
    }

    /** The item in a slot, where it is. */
    RemoteItem item(int number) {
        return wrap(slots.get(number));
    }

    private RemoteItem wrap(ReadSlot slot) {
        return view.wrap(queuePair.sink(), queuePair.offset(slot.number), slot.keyLength, slot.valueLength);
    }

    /** Why the queue pair is of no use any more, or null. */
    @Nullable
    String failure() {
        if (failure == null && queuePair.ended() != null) {
            failure = "the queue pair has ended: " + queuePair.ended();
        }
        return failure;
    }

    @Override
    public void complete(WorkCompletion completion, long nowNs) {
        int slot = ReaderQueuePair.slotOf(completion.wrId());
        if (!completion.isSuccess()) {
            broken("the queue pair failed: " + completion.status());
            return;
        }
        switch (ReaderQueuePair.kindOf(completion.wrId())) {
            case ReaderQueuePair.READ -> readDone(slots.get(slot), nowNs);
            case ReaderQueuePair.RECEIVE -> received(slot, completion.byteLength());
            case ReaderQueuePair.TOUCH -> talk.reportSent();
            default -> {} // the hello
        }
    }

    private void readDone(ReadSlot slot, long nowNs) {
        int item = (int) queuePair.offset(slot.number);
        ReadOutcome outcome = check(slot, item, talk.latestSeconds(nowNs));
        takeLengths(slot);
        if (outcome == ReadOutcome.FORWARDED) {
            if (follow(slot, item)) {
                return;
            }
            outcome = ReadOutcome.STALE;
        }
        if (outcome == ReadOutcome.HIT) {
            if (slot.followed && !places.isBeingWritten(slot.hash)) {
                locators.put(slot.hash, slot.first, slot.second);
            }
            touched(slot, item, nowNs);
        } else {
            locators.remove(slot.hash, slot.first, slot.second);
        }
        counters.count(outcome);
        slot.outcome = outcome;
        GetRequest owner = slot.owner;
        if (owner != null) {
            owner.read(slot.number, outcome);
        } else {
            slots.ready(slot);
        }
    }

    private void touched(ReadSlot slot, int item, long nowNs) {
        int generation = ItemDescriptor.generation(queuePair.sink(), item);
        int entry = locators.entryOf(slot.entry, slot.hash, slot.first, slot.second);
        long named = entry == LocatorCache.NONE ? 0 : locators.note(entry);
        long namedNow = talk.touched(slot.first, generation, named, nowNs);
        if (entry != LocatorCache.NONE && namedNow != named) {
            locators.note(entry, namedNow);
        }
    }

    private ReadOutcome check(ReadSlot slot, int item, long latestSeconds) {
        MemorySegment sink = queuePair.sink();
        ByteBuffer bytes = queuePair.sinkView();
        return registration.namesChunks()
                ? check.checkLiving(sink, bytes, item, Locator.length(slot.second), slot.key, latestSeconds)
                : check.check(sink, bytes, item, slot.second, slot.key, latestSeconds);
    }

    private void takeLengths(ReadSlot slot) {
        slot.keyLength = check.keyLength();
        slot.valueLength = check.valueLength();
    }

    /** READs the item that replaced this one; false if that was done once, or leads nowhere. */
    private boolean follow(ReadSlot slot, int item) {
        locators.remove(slot.hash, slot.first, slot.second);
        long first = ItemDescriptor.forwardFirst(queuePair.sink(), item);
        long second = ItemDescriptor.forwardSecond(queuePair.sink(), item);
        long address = registration.address(first, second, maxItemLength);
        if (slot.followed || failure() != null || address == Registration.NOT_COVERED) {
            return false;
        }
        counters.count(ReadOutcome.FORWARDED);
        slot.followed = true;
        slot.first = first;
        slot.second = second;
        slot.address = address;
        postRead(slot);
        return true;
    }

    private void received(int message, long length) {
        long offset = queuePair.message(message);
        if (!AnswerDescriptor.isValid(length)) {
            broken("the server sent a message of " + length + " bytes, expected " + AnswerDescriptor.LENGTH);
            return;
        }
        long opaque = AnswerDescriptor.opaque(queuePair.control(), offset);
        int status = AnswerDescriptor.status(queuePair.control(), offset);
        if (opaque != 0 || !talk.take(offset, status)) {
            answered(offset, opaque, status);
        }
        queuePair.postReceive(message);
    }

    private void answered(long offset, long opaque, int status) {
        int number = (int) (opaque & OPAQUE_SLOT_MASK);
        ReadSlot slot = number < slots.all().length ? slots.get(number) : null;
        GetRequest owner = slot == null || slot.opaque != opaque ? null : slot.owner;
        if (opaque == 0 || slot == null || owner == null) {
            broken("the server answered request " + opaque + " with status " + status + ", which nobody waits for");
            return;
        }
        slot.opaque = 0;
        talk.heard(offset, slot.askedNs);
        rgetsOutstanding--;
        slot.first = AnswerDescriptor.locatorFirst(queuePair.control(), offset);
        slot.second = AnswerDescriptor.locatorSecond(queuePair.control(), offset);
        slot.writtenLength = AnswerDescriptor.itemLength(queuePair.control(), offset);
        if (status == AnswerDescriptor.FOUND) {
            places.learnArena(Locator.rkey(slot.first));
        }
        owner.answered(number, status);
    }

    @Override
    public void postPrepared() {
        try {
            queuePair.flush();
        } catch (RuntimeException e) {
            broken("its READs could not be posted: " + e);
        } catch (Error e) {
            broken("its READs may not have been posted: " + e);
            throw e;
        }
    }

    @Override
    public void reportTouches(long nowNs) {
        talk.reportTouches(nowNs);
    }

    /** Sends the last touch reports, and waits for their answers until the deadline. */
    void finishTouches(long deadlineNs) {
        while (failure() == null && talk.isUnfinished() && nanoClock.nanoTime() - deadlineNs < 0) {
            talk.reportAll();
            loop.await(WAIT_SLICE_NS);
        }
    }

    /** The server broke the protocol: the queue pair is of no use any more. */
    void broken(String reason) {
        if (failure == null) {
            failure = reason;
        }
    }

    private boolean prepare(ReadSlot slot, int entry, long hash, byte[] key) {
        long first = locators.first(entry);
        long second = locators.second(entry);
        long address = registration.address(first, second, maxItemLength);
        if (address == Registration.NOT_COVERED) {
            return false;
        }
        slot.hash = hash;
        slot.entry = entry;
        slot.first = first;
        slot.second = second;
        slot.address = address;
        slot.key = key;
        slot.followed = false;
        return true;
    }

    private void addRead(ReadSlot slot) {
        counters.reads++;
        queuePair.addRead(slot.number, Locator.length(slot.second), slot.address, Locator.rkey(slot.first));
    }

    private void postRead(ReadSlot slot) {
        counters.reads++;
        queuePair.postRead(slot.number, Locator.length(slot.second), slot.address, Locator.rkey(slot.first));
    }

    @Override
    public void close() {
        queuePair.close();
    }
}
