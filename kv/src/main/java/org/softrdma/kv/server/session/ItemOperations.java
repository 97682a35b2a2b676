package org.softrdma.kv.server.session;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.item.KeySlice;
import org.softrdma.kv.memcached.DecimalValue;
import org.softrdma.kv.memcached.TextProtocol;
import org.softrdma.kv.server.watch.WatchLog;
import org.softrdma.kv.store.ItemRewriter;
import org.softrdma.kv.store.ItemVisitor;
import org.softrdma.kv.store.NewItem;
import org.softrdma.kv.store.StoreMode;
import org.softrdma.kv.store.StoreRule;
import org.softrdma.kv.store.StoreStatus;
import org.softrdma.kv.store.StoredItem;

/**
 * What the commands of one connection do with items, whatever protocol they come by: get, store, delete, rewrite and
 * arithmetic, with memcached's counters, prefixes and events for watchers. The protocols decode requests and encode
 * answers. Where memcached 1.6.18 itself treats its protocols differently, the protocol's class does so, and says it.
 * Owned by the thread of the connection.
 */
final class ItemOperations {
    /** How often others may create and delete a number while a command tries to count it up. */
    private static final int MOST_ATTEMPTS = 1000;

    private final KvService service;
    private final ServerCounters counters;
    private final WatchLog watchLog;
    private final Conversation connection;
    private final ValueIntake intake;
    private final StoreRule rule = new StoreRule();
    private final Arithmetic arithmetic = new Arithmetic();
    private final byte[] digits = new byte[DecimalValue.MAX_LENGTH];

    // The key of the present command: it stays in its request until that has ended.
    private final KeySlice key = new KeySlice();
    private long nowSeconds;

    // Of the present command, for what is called with the lock of its key held.
    private boolean touching;
    private ItemVisitor answer = _ -> {};
    private @Nullable NumberAnswer numberAnswer;
    private boolean up;
    private final ItemVisitor found = this::found;
    private final ItemVisitor foundOwn = this::foundOwn;
    private final ItemVisitor looked = this::looked;
    private final ItemVisitor deleted = this::deleted;
    private final ItemVisitor counted = this::counted;

    // Of the value that is expected.
    private @Nullable StoreAnswer storeAnswer;
    private int expiry;
    private int valueLength;

    ItemOperations(KvService service, Conversation connection) {
        this.service = service;
        this.counters = service.counters();
        this.watchLog = service.watchLog();
        this.connection = connection;
        this.intake = new ValueIntake(service, connection);
    }

    /** How a protocol answers a storage command. */
    interface StoreAnswer {
        /** The value has come; what became of it. */
        void stored(StoreStatus status, NewItem item);

        /** TOO_LARGE or OUT_OF_MEMORY: the value is skipped. */
        void refused(StoreStatus status);

        /** No line end follows the value, and nothing is stored. */
        void unterminated();
    }

    /** How a protocol answers with an item that it may have created. */
    interface VivifyAnswer {
        /** With the lock of the key held. */
        void found(StoredItem item, boolean created);
    }

    /** How a protocol answers a number. */
    interface NumberAnswer {
        /** A number was changed; with the lock of the key held. */
        void counted(StoredItem item, long number);

        /** A number was created; false if it is gone again and the command has to begin anew. */
        boolean created(NewItem item, long number);
    }

    /**
     * A number that arithmetic creates where there is none.
     *
     * @param initial unsigned
     * @param expiry seconds since 1970, 0 for never
     * @param keyBinary whether the key came as base64
     */
    record Creation(long initial, int expiry, boolean keyBinary) {}

    /**
     * A command begins, or goes on with its next key.
     *
     * @param newKey whose bytes are unchanged until the command has ended
     * @param now seconds since 1970
     */
    void begin(KeySlice newKey, long now) {
        key.wrap(newKey);
        nowSeconds = now;
    }

    /** The rule of the command: to be reset by whoever stores or rewrites. */
    StoreRule rule() {
        return rule;
    }

    // ---- get

    /**
     * Looks for the item and counts the hit.
     *
     * @param bump whether the item counts as used lately
     * @param touch whether memcached counts a touch, and no get
     * @param visitor answers, with the lock of the key held
     */
    boolean find(boolean bump, boolean touch, ItemVisitor visitor) {
        touching = touch;
        answer = visitor;
        return service.store().get(key, nowSeconds, bump, found);
    }

    private void found(StoredItem item) {
        looked(item);
        foundOwn(item);
    }

    private void foundOwn(StoredItem item) {
        if (touching) {
            counters.touchHits.increment(item.sizeClass());
        } else {
            item.countHit();
        }
        answer.visit(item);
    }

    private void looked(StoredItem item) {
        if (watchLog.wants(WatchLog.FETCHERS)) {
            watchLog.fetched(key, item, connection.number());
        }
    }

    /**
     * Makes an empty item for the one client that is to fill it, after {@link #find} found none. Others find that
     * somebody does.
     *
     * @param keyBinary whether the key came as base64
     * @param bump as for find
     * @param visitor answers, and is told whether the item was created
     * @return false if there is no room
     */
    boolean vivify(boolean keyBinary, boolean bump, VivifyAnswer visitor) {
        NewItem item = service.reserve(key, 0, 0, 0, nowSeconds);
        if (item.status() != NewItem.Status.READY) {
            return false;
        }
        tellMissed();
        rule.reset(StoreMode.ADD).tokenSent(true).keyBinary(keyBinary);
        boolean created = service.store().store(item, rule, nowSeconds) == StoreStatus.STORED;
        answer = stored -> visitor.found(stored, created);
        return service.store().get(key, nowSeconds, bump, foundOwn);
    }

    /** Counts a miss. */
    void missed(boolean touch) {
        (touch ? counters.touchMisses : counters.getMisses).increment();
        tellMissed();
    }

    private void tellMissed() {
        if (watchLog.wants(WatchLog.FETCHERS)) {
            watchLog.missed(key, connection.number());
        }
    }

    /** The item as it is: no hit, no event; false if there is none. */
    boolean peek(ItemVisitor visitor) {
        return service.store().get(key, nowSeconds, false, visitor);
    }

    /** Tells who watches fetchers of the lookup that memcached makes before it changes an item. */
    void tellLookup() {
        if (watchLog.wants(WatchLog.FETCHERS) && !peek(looked)) {
            tellMissed();
        }
    }

    // ---- prefixes, which memcached does not count for meta commands

    void countGetOfPrefix(boolean hit) {
        service.prefixes().get(key, hit);
    }

    void countSetOfPrefix() {
        service.prefixes().set(key);
    }

    void countDeleteOfPrefix() {
        service.prefixes().delete(key);
    }

    // ---- store

    /**
     * Says where the value goes: into a new item, to be stored by the rule, or nowhere if it is too large.
     *
     * @param forgets whether the older value goes if there is no room for this one: as memcached has it, that of a set,
     *     of an ms in any mode, and of a binary set with a cas number
     * @param flags the client's
     * @param newExpiry seconds since 1970, 0 for never
     * @param length bytes of the value
     * @param to who answers
     */
    void store(boolean forgets, int flags, int newExpiry, int length, StoreAnswer to) {
        storeAnswer = to;
        expiry = newExpiry;
        valueLength = length;
        if (!intake.begin(key, forgets, flags, newExpiry, length)) {
            refuse(StoreStatus.TOO_LARGE, to);
        }
    }

    private void refuse(StoreStatus status, StoreAnswer to) {
        tellStored(status, null);
        countRefusal(status);
        to.refused(status);
    }

    /** Counts a change for which there was no room. */
    void countRefusal(StoreStatus status) {
        (status == StoreStatus.TOO_LARGE ? counters.tooLarge : counters.outOfMemory).increment();
    }

    /**
     * The value has come, or was skipped.
     *
     * @param terminated whether a line end follows it, where the protocol wants one
     */
    void endValue(boolean terminated) {
        NewItem item = intake.end();
        StoreAnswer to = storeAnswer;
        if (item == null || to == null) {
            return; // it was skipped and is answered
        }
        nowSeconds = service.nowSeconds();
        if (item.status() != NewItem.Status.READY) {
            refuse(StoreStatus.OUT_OF_MEMORY, to);
            return;
        }
        counters.sets.increment(service.store().sizeClass(item));
        if (!terminated) {
            service.store().abandon(item);
            to.unterminated();
            return;
        }
        tellLookup();
        StoreStatus status = service.store().store(item, rule, nowSeconds);
        if (rule.mode() == StoreMode.CAS) {
            countCas(status, item.oldSizeClass());
        }
        tellStored(status, item);
        if (status == StoreStatus.TOO_LARGE || status == StoreStatus.OUT_OF_MEMORY) {
            countRefusal(status);
        }
        to.stored(status, item);
    }

    /** By the class of the item that a cas replaces, or does not. */
    private void countCas(StoreStatus status, int oldSizeClass) {
        if (oldSizeClass == NewItem.NO_CLASS) {
            counters.casMisses.increment();
        } else if (status == StoreStatus.STORED) {
            counters.casHits.increment(oldSizeClass);
        } else {
            counters.casBadValues.increment(oldSizeClass);
        }
    }

    private void tellStored(StoreStatus status, @Nullable NewItem item) {
        if (watchLog.wants(WatchLog.MUTATIONS)) {
            WatchLog.Mutation mutation = new WatchLog.Mutation(
                    switch (status) { // in memcached's words
                        case OUT_OF_MEMORY -> "no_memory";
                        case NON_NUMERIC, BUSY -> "not_stored";
                        default -> status.name().toLowerCase(Locale.ROOT);
                    },
                    rule.mode().name().toLowerCase(Locale.ROOT),
                    Math.max(0, expiry - nowSeconds),
                    item == null ? NewItem.NO_CLASS : service.store().sizeClass(item),
                    valueLength);
            watchLog.stored(key, mutation, connection.number());
        }
    }

    /** All that has come is used up, and the value is not whole. */
    void awaitValue() {
        intake.await();
    }

    // ---- delete, rewrite, arithmetic

    /**
     * Deletes the item.
     *
     * @param compareCas the number that it must have, 0 for any
     */
    StoreStatus delete(long compareCas) {
        tellLookup();
        StoreStatus status = service.store().delete(key, compareCas, nowSeconds, deleted);
        if (status == StoreStatus.NOT_FOUND) {
            counters.deleteMisses.increment();
        }
        return status;
    }

    private void deleted(StoredItem item) {
        counters.deleteHits.increment(item.sizeClass());
    }

    /** Rewrites the item by the rule. */
    StoreStatus rewrite(ItemRewriter rewriter, ItemVisitor visitor) {
        tellLookup();
        return service.store().rewrite(key, rule, rewriter, nowSeconds, visitor);
    }

    /**
     * Adds to a number, or subtracts from it.
     *
     * @param delta unsigned
     * @param increments whether it adds
     * @param compareCas the number that the item must have, 0 for any
     * @param newCas the number that the item gets, 0 for the next of the store
     * @param creation of a number where there is none; null if it must be there
     * @param to who answers
     */
    StoreStatus count(
            long delta,
            boolean increments,
            long compareCas,
            long newCas,
            @Nullable Creation creation,
            NumberAnswer to) {
        tellLookup();
        up = increments;
        numberAnswer = to;
        arithmetic.begin(delta, increments);
        StoreStatus status = StoreStatus.NOT_STORED;
        for (int left = MOST_ATTEMPTS; left > 0 && status == StoreStatus.NOT_STORED; left--) {
            rule.reset(StoreMode.SET).compareCas(compareCas).newCas(newCas);
            status = service.store().rewrite(key, rule, arithmetic, nowSeconds, counted);
            if (status == StoreStatus.NOT_FOUND && creation != null) {
                status = create(creation, newCas, to); // NOT_STORED if somebody else created it
            }
        }
        if (status == StoreStatus.NOT_FOUND) {
            (up ? counters.incrMisses : counters.decrMisses).increment();
        }
        return status == StoreStatus.NOT_STORED ? StoreStatus.BUSY : status;
    }

    private void counted(StoredItem item) {
        (up ? counters.incrHits : counters.decrHits).increment(item.sizeClass());
        if (numberAnswer != null) {
            numberAnswer.counted(item, arithmetic.result());
        }
    }

    private StoreStatus create(Creation creation, long newCas, NumberAnswer to) {
        int length = TextProtocol.number(digits, 0, creation.initial());
        expiry = creation.expiry();
        valueLength = length;
        NewItem item = service.reserve(key, 0, expiry, length, nowSeconds);
        if (item.status() != NewItem.Status.READY) {
            return StoreStatus.OUT_OF_MEMORY;
        }
        MemorySegment.copy(digits, 0, item.memory(), ValueLayout.JAVA_BYTE, item.valueOffset(), length);
        tellLookup();
        rule.reset(StoreMode.ADD).newCas(newCas).keyBinary(creation.keyBinary());
        StoreStatus status = service.store().store(item, rule, nowSeconds);
        tellStored(status, item);
        return status == StoreStatus.STORED && !to.created(item, creation.initial()) ? StoreStatus.NOT_STORED : status;
    }

    /** Gives back what the connection holds. */
    void release() {
        intake.release();
    }
}
