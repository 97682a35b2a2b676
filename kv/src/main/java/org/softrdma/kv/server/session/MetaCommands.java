package org.softrdma.kv.server.session;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.memcached.DecimalValue;
import org.softrdma.kv.memcached.MetaFlags;
import org.softrdma.kv.memcached.TextProtocol;
import org.softrdma.kv.memcached.TextRequest;
import org.softrdma.kv.server.watch.WatchLog;
import org.softrdma.kv.store.ItemRewriter;
import org.softrdma.kv.store.NewItem;
import org.softrdma.kv.store.StoreMode;
import org.softrdma.kv.store.StoreRule;
import org.softrdma.kv.store.StoreStatus;
import org.softrdma.kv.store.StoredItem;

/** The meta commands (mg, ms, md, ma, me) of one connection. Owned by the thread of the connection. */
final class MetaCommands implements ValueTaker {
    /** The last cas number there is; no server gets that far. */
    private static final long NO_CAS = -1;

    /** How often others may create and delete a number while this command tries to count it up. */
    private static final int MOST_ATTEMPTS = 1000;

    private final KvService service;
    private final ServerCounters counters;
    private final WatchLog watchLog;
    private final WatchedLookup lookup;
    private final Conversation connection;
    private final StoreRule rule = new StoreRule();
    private final Arithmetic arithmetic = new Arithmetic();
    private final Invalidation invalidation = new Invalidation();
    private final MetaReply reply;

    private final ValueIntake intake;
    private TextRequest request = new TextRequest();
    private long nowSeconds;

    /** The last ma has created its number. */
    private boolean created;

    MetaCommands(KvService service, Conversation connection) {
        this.service = service;
        this.counters = service.counters();
        this.watchLog = service.watchLog();
        this.lookup = new WatchedLookup(service, connection);
        this.connection = connection;
        this.intake = new ValueIntake(service, connection);
        this.reply = new MetaReply(service, connection);
    }

    private MetaFlags begin(TextRequest newRequest) {
        counters.metas.increment();
        request = newRequest;
        nowSeconds = service.nowSeconds();
        reply.begin(newRequest, nowSeconds);
        return newRequest.meta();
    }

    /** {@code mg}. */
    void get(TextRequest newRequest) {
        MetaFlags flags = begin(newRequest);
        boolean found = find(!flags.has('u'), false);
        if (!found && flags.has('N')) {
            found = vivify(flags);
        }
        if (!found) {
            counters.getMisses.increment(); // even with T: memcached counts a touch only where it makes one
            tellMissed();
            if (!flags.has('q')) {
                reply.answer(MetaReply.MISS);
            }
        }
    }

    private boolean find(boolean bump, boolean created) {
        return service.store()
                .get(request.bytes(), request.keyOffset(0), request.keyLength(0), nowSeconds, bump, item -> {
                    countFound(item);
                    reply.describe(item, created);
                });
    }

    private void countFound(StoredItem item) {
        if (request.meta().has('T')) {
            counters.touchHits.increment(item.sizeClass());
        } else {
            item.countHit();
        }
        if (watchLog.wants(WatchLog.FETCHERS)) {
            watchLog.fetched(request.bytes(), request.keyOffset(0), request.keyLength(0), item, connection.number());
        }
    }

    private void tellMissed() {
        if (watchLog.wants(WatchLog.FETCHERS)) {
            watchLog.missed(request.bytes(), request.keyOffset(0), request.keyLength(0), connection.number());
        }
    }

    private void tellStored(StoreStatus status, @Nullable NewItem item, int length) {
        if (watchLog.wants(WatchLog.MUTATIONS)) {
            MetaFlags flags = request.meta();
            long ttlSeconds = flags.has('T') ? reply.expiry(flags, 'T') - nowSeconds : 0;
            int sizeClass = item == null ? NewItem.NO_CLASS : service.store().sizeClass(item);
            watchLog.stored(
                    request.bytes(),
                    request.keyOffset(0),
                    request.keyLength(0),
                    ClassicCommands.mutation(status, rule.mode(), ttlSeconds, sizeClass, length),
                    connection.number());
        }
    }

    /** Makes an empty item for the one client that is to fill it; all others see that somebody does. */
    private boolean vivify(MetaFlags flags) {
        NewItem item = service.reserve(
                request.bytes(),
                request.keyOffset(0),
                request.keyLength(0),
                0,
                0, // N says when it expires once its turn among the flags comes
                0,
                nowSeconds);
        if (item.status() != NewItem.Status.READY) {
            return false;
        }
        rule.reset(StoreMode.ADD).tokenSent(true).keyBinary(flags.has('b'));
        boolean created = service.store().store(item, rule, nowSeconds) == StoreStatus.STORED;
        return find(!flags.has('u'), created);
    }

    /** {@code ms}: says where its value goes. */
    void set(TextRequest newRequest) {
        MetaFlags flags = begin(newRequest);
        StoreMode mode = storeMode(flags.mode());
        if (mode == null) {
            connection.expectValue(null, request.valueLength());
            connection.reply(TextProtocol.BAD_SET_MODE);
            return;
        }
        if (flags.has('C') && (mode == StoreMode.SET || mode == StoreMode.REPLACE)) {
            mode = StoreMode.CAS;
        }
        prepareRule(flags, mode);
        StoreStatus begun = intake.begin(
                request,
                mode,
                flags.has('F') ? (int) flags.number('F') : 0,
                flags.has('T') ? reply.expiry(flags, 'T') : 0);
        if (begun != StoreStatus.STORED) {
            tellStored(begun, null, request.valueLength());
            connection.reply(intake.refusal(begun));
        }
    }

    private void prepareRule(MetaFlags flags, StoreMode mode) {
        rule.reset(mode)
                .compareCas(flags.has('C') ? flags.number('C') : 0)
                .newCas(flags.has('E') ? flags.number('E') : 0)
                .staleIfOlder(flags.has('I'))
                .keyBinary(flags.has('b'));
        if (flags.has('N')) {
            rule.createIfMissing(reply.expiry(flags, 'N'));
        }
    }

    @Override
    public void endValue(boolean terminated) {
        NewItem item = intake.end();
        if (item == null) {
            return; // it was skipped and is answered
        }
        if (item.status() != NewItem.Status.READY) {
            tellStored(StoreStatus.OUT_OF_MEMORY, null, request.valueLength());
            connection.reply(intake.refusal(StoreStatus.OUT_OF_MEMORY));
            return;
        }
        counters.sets.increment(service.store().sizeClass(item));
        if (!terminated) {
            service.store().abandon(item);
            connection.reply(TextProtocol.BAD_DATA_CHUNK);
            return;
        }
        lookup.tell(request);
        StoreStatus status = service.store().store(item, rule, service.nowSeconds());
        if (rule.mode() == StoreMode.CAS) {
            ClassicCommands.countCas(counters, status, item.oldSizeClass());
        }
        tellStored(status, item, item.valueLength());
        MetaFlags flags = request.meta();
        switch (status) {
            case STORED -> {
                if (!flags.has('q')) {
                    reply.answerSet(MetaReply.HIT, item.cas());
                }
            }
            case EXISTS -> reply.answerSet(MetaReply.EXISTS, 0);
            case NOT_FOUND -> reply.answerSet(MetaReply.NOT_FOUND, 0);
            case NOT_STORED -> reply.answerSet(MetaReply.NOT_STORED, 0);
            case BUSY -> connection.reply(TextProtocol.BUSY);
            case TOO_LARGE, OUT_OF_MEMORY, NON_NUMERIC -> connection.reply(intake.refusal(status));
        }
    }

    /** {@code md}. */
    void delete(TextRequest newRequest) {
        MetaFlags flags = begin(newRequest);
        lookup.tell(newRequest);
        long compareCas = flags.has('C') ? flags.number('C') : 0;
        if (flags.has('C') && compareCas == 0) {
            compareCas = NO_CAS; // 0 is no item's number, and to the store it means any
        }
        StoreStatus status;
        if (flags.has('I')) {
            rule.reset(StoreMode.SET).compareCas(compareCas).newCas(flags.has('E') ? flags.number('E') : 0);
            status = service.store()
                    .rewrite(
                            request.bytes(),
                            request.keyOffset(0),
                            request.keyLength(0),
                            rule,
                            invalidation,
                            nowSeconds,
                            item -> {
                                if (flags.has('T')) {
                                    item.setExpiry(reply.expiry(flags, 'T'));
                                }
                            });
        } else {
            status = service.store()
                    .delete(
                            request.bytes(),
                            request.keyOffset(0),
                            request.keyLength(0),
                            compareCas,
                            nowSeconds,
                            item -> counters.deleteHits.increment(item.sizeClass()));
        }
        if (status == StoreStatus.NOT_FOUND || status == StoreStatus.EXISTS) {
            counters.deleteMisses.increment();
        }
        switch (status) {
            case STORED -> {
                if (!flags.has('q')) {
                    reply.answer(MetaReply.HIT);
                }
            }
            case EXISTS -> reply.answer(MetaReply.EXISTS);
            case NOT_FOUND -> reply.answer(MetaReply.NOT_FOUND);
            case BUSY -> connection.reply(TextProtocol.BUSY);
            default -> connection.reply(intake.refusal(status));
        }
    }

    /** {@code ma}. */
    void arithmetic(TextRequest newRequest) {
        MetaFlags flags = begin(newRequest);
        lookup.tell(newRequest);
        char mode = flags.mode();
        boolean up = mode == 0 || mode == 'I' || mode == 'i' || mode == '+';
        if (!up && mode != 'D' && mode != 'd' && mode != '-') {
            connection.reply(TextProtocol.BAD_ARITHMETIC_MODE);
            return;
        }
        arithmetic.begin(flags.has('D') ? flags.number('D') : 1, up);
        StoreStatus status = StoreStatus.NOT_STORED;
        created = false;
        for (int left = MOST_ATTEMPTS; left > 0 && status == StoreStatus.NOT_STORED; left--) {
            rule.reset(StoreMode.SET)
                    .compareCas(flags.has('C') ? flags.number('C') : 0)
                    .newCas(flags.has('E') ? flags.number('E') : 0);
            status = service.store()
                    .rewrite(
                            request.bytes(),
                            request.keyOffset(0),
                            request.keyLength(0),
                            rule,
                            arithmetic,
                            nowSeconds,
                            item -> {
                                (up ? counters.incrHits : counters.decrHits).increment(item.sizeClass());
                                reply.describeNumber(item, arithmetic.result(), false);
                            });
            if (status == StoreStatus.NOT_FOUND && flags.has('N')) {
                status = createNumber(flags); // NOT_STORED if somebody else created it
            }
        }
        ClassicCommands.countMissingNumber(counters, up, status);
        switch (status) {
            case STORED -> {
                if (!flags.has('q') || created) { // memcached tells that it has created a number
                    reply.send();
                }
            }
            case NOT_FOUND -> reply.answer(MetaReply.NOT_FOUND);
            case EXISTS -> reply.answer(MetaReply.EXISTS);
            case NON_NUMERIC -> connection.reply(TextProtocol.NON_NUMERIC);
            case BUSY, NOT_STORED -> connection.reply(TextProtocol.BUSY);
            default -> connection.reply(TextProtocol.OUT_OF_MEMORY_INCR);
        }
    }

    private StoreStatus createNumber(MetaFlags flags) {
        long initial = flags.has('J') ? flags.number('J') : 0;
        byte[] digits = new byte[DecimalValue.MAX_LENGTH];
        int length = TextProtocol.number(digits, 0, initial);
        NewItem item = service.reserve(
                request.bytes(),
                request.keyOffset(0),
                request.keyLength(0),
                0,
                0, // as for mg
                length,
                nowSeconds);
        if (item.status() != NewItem.Status.READY) {
            return StoreStatus.OUT_OF_MEMORY;
        }
        MemorySegment.copy(digits, 0, item.memory(), ValueLayout.JAVA_BYTE, item.valueOffset(), length);
        rule.reset(StoreMode.ADD).newCas(flags.has('E') ? flags.number('E') : 0).keyBinary(flags.has('b'));
        StoreStatus status = service.store().store(item, rule, nowSeconds);
        tellStored(status, item, length);
        if (status == StoreStatus.STORED) {
            boolean there = service.store()
                    .get(
                            request.bytes(),
                            request.keyOffset(0),
                            request.keyLength(0),
                            nowSeconds,
                            false,
                            stored -> reply.describeNumber(stored, initial, true));
            created = there;
            return there ? StoreStatus.STORED : StoreStatus.NOT_STORED; // deleted already: once more
        }
        return status;
    }

    /** {@code me}. */
    void debug(TextRequest newRequest) {
        begin(newRequest);
        lookup.tell(newRequest);
        boolean found = service.store()
                .get(
                        request.bytes(),
                        request.keyOffset(0),
                        request.keyLength(0),
                        nowSeconds,
                        false,
                        reply::describeForDebugging);
        if (found) {
            reply.send();
        } else {
            reply.miss();
        }
    }

    /** All that has come is used up, and the value is not whole. */
    void awaitValue() {
        intake.await();
    }

    /** Gives back what the connection holds. */
    void release() {
        intake.release();
    }

    private static @Nullable StoreMode storeMode(char mode) {
        return switch (mode) {
            case 0, 'S', 's' -> StoreMode.SET;
            case 'E', 'e' -> StoreMode.ADD;
            case 'A', 'a' -> StoreMode.APPEND;
            case 'P', 'p' -> StoreMode.PREPEND;
            case 'R', 'r' -> StoreMode.REPLACE;
            default -> null;
        };
    }

    /** The same value again, stale: a new item, so that its cas number is new for readers as well. */
    private static final class Invalidation implements ItemRewriter {
        @Override
        public int measure(StoredItem old) {
            return old.valueLength();
        }

        @Override
        public void write(MemorySegment old, long oldOffset, int oldLength, MemorySegment target, long offset) {
            MemorySegment.copy(old, oldOffset, target, offset, oldLength);
        }

        @Override
        public Marks marks() {
            return Marks.STALE;
        }
    }
}
