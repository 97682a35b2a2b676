package org.softrdma.kv.server;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.memcached.DecimalValue;
import org.softrdma.kv.memcached.MetaFlags;
import org.softrdma.kv.memcached.ReplyLine;
import org.softrdma.kv.memcached.TextProtocol;
import org.softrdma.kv.memcached.TextRequest;
import org.softrdma.kv.store.ItemRewriter;
import org.softrdma.kv.store.NewItem;
import org.softrdma.kv.store.StoreMode;
import org.softrdma.kv.store.StoreRule;
import org.softrdma.kv.store.StoreStatus;
import org.softrdma.kv.store.StoredItem;

/** The meta commands (mg, ms, md, ma, me) of one connection. Owned by the thread of the connection. */
final class MetaCommands implements ValueTaker {
    private static final String HIT = "HD";
    private static final String VALUE = "VA ";
    private static final String MISS = "EN";
    private static final String NOT_FOUND = "NF";
    private static final String NOT_STORED = "NS";
    private static final String EXISTS = "EX";

    /** The last cas number there is; no server comes so far. */
    private static final long NO_CAS = -1;

    private static final long BEFORE_ANY_EXPIRY = 0;

    /** How often a number may be created and deleted by others while it is to be counted up. */
    private static final int MOST_ATTEMPTS = 1000;

    private final KvService service;
    private final ServerCounters counters;
    private final Conversation connection;
    private final StoreRule rule = new StoreRule();
    private final Arithmetic arithmetic = new Arithmetic();
    private final Invalidation invalidation = new Invalidation();
    private final ReplyLine line = new ReplyLine();

    private final ValueIntake intake;
    private TextRequest request = new TextRequest();
    private long nowSeconds;

    MetaCommands(KvService service, Conversation connection) {
        this.service = service;
        this.counters = service.counters();
        this.connection = connection;
        this.intake = new ValueIntake(service, connection);
    }

    private MetaFlags begin(TextRequest newRequest) {
        counters.metas.increment();
        request = newRequest;
        nowSeconds = service.nowSeconds();
        return newRequest.meta();
    }

    /** {@code mg}. */
    void get(TextRequest newRequest) {
        MetaFlags flags = begin(newRequest);
        boolean found = find(!flags.has('u'), false);
        if (!found && flags.has('N')) {
            found = vivify(flags);
        }
        (found ? counters.getHits : counters.getMisses).increment();
        if (flags.has('T')) {
            (found ? counters.touchHits : counters.touchMisses).increment();
        }
        if (!found && !flags.has('q')) {
            answer(MISS);
        }
    }

    private boolean find(boolean bump, boolean created) {
        return service.store()
                .get(
                        request.bytes(),
                        request.keyOffset(0),
                        request.keyLength(0),
                        nowSeconds,
                        bump,
                        item -> describe(item, created));
    }

    /** Makes an empty item for the one client that is to fill it; all others see that somebody does. */
    private boolean vivify(MetaFlags flags) {
        NewItem item = service.reserve(
                request.bytes(), request.keyOffset(0), request.keyLength(0), 0, expiry(flags, 'N'), 0, nowSeconds);
        if (item.status() != NewItem.Status.READY) {
            return false;
        }
        rule.reset(StoreMode.ADD).tokenSent(true).keyBinary(flags.has('b'));
        boolean created = service.store().store(item, rule, nowSeconds) == StoreStatus.STORED;
        return find(!created && !flags.has('u'), created);
    }

    /** Answers a hit, with the lock of the key held. */
    private void describe(StoredItem item, boolean created) {
        MetaFlags flags = request.meta();
        boolean withValue = flags.has('v');
        if (withValue) {
            line.begin(VALUE).add(item.valueLength());
        } else {
            line.begin(HIT);
        }
        boolean won = created;
        boolean sent = item.isTokenSent() && !created;
        for (int i = 0; i < flags.count(); i++) {
            switch (flags.letter(i)) {
                case 'T' -> item.setExpiry(expiry(flags, 'T'));
                case 'N' -> {
                    if (created) {
                        item.setExpiry(expiry(flags, 'N')); // flags count in their order: a T before it does not
                    }
                }
                case 'R' -> won |= !sent && !created && expiresBefore(item, expiry(flags, 'R'));
                case 's' -> line.add(" s").add(item.valueLength());
                case 't' -> addTtl(item);
                case 'c' -> line.add(" c").add(item.cas());
                case 'f' -> line.add(" f").add(Integer.toUnsignedLong(item.flags()));
                case 'l' -> line.add(" l").add(Math.max(0, (int) nowSeconds - item.lastAccess()));
                case 'h' -> line.add(item.isFetched() ? " h1" : " h0");
                case 'O' -> addOpaque(flags, i);
                case 'k' -> addKey(item.isKeyBinary());
                default -> {}
            }
        }
        if (sent) {
            line.add(" Z");
        }
        if (item.isStale()) {
            line.add(" X");
            won |= !sent;
        }
        if (won) {
            line.add(" W");
            item.setTokenSent();
        }
        line.end();
        if (!withValue) {
            connection.reply(line);
            return;
        }
        connection.reply(line.bytes(), line.length(), item);
    }

    private static boolean expiresBefore(StoredItem item, int time) {
        return item.expiry() != 0 && item.expiry() < Integer.toUnsignedLong(time);
    }

    /** {@code ms}: says where its value goes. */
    void set(TextRequest newRequest) {
        MetaFlags flags = begin(newRequest);
        counters.sets.increment();
        StoreMode mode = storeMode(flags.mode());
        if (mode == null) {
            connection.expectValue(null, 0, request.valueLength());
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
                flags.has('T') ? expiry(flags, 'T') : 0,
                nowSeconds);
        if (begun != StoreStatus.STORED) {
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
            rule.createIfMissing(expiry(flags, 'N'));
        }
    }

    @Override
    public void endValue(boolean terminated) {
        NewItem item = intake.take();
        if (item == null) {
            return; // it was skipped and is answered
        }
        if (!terminated) {
            service.store().abandon(item);
            connection.reply(TextProtocol.BAD_DATA_CHUNK);
            return;
        }
        StoreStatus status = service.store().store(item, rule, service.nowSeconds());
        MetaFlags flags = request.meta();
        switch (status) {
            case STORED -> {
                if (!flags.has('q')) {
                    answerSet(HIT, item.cas());
                }
            }
            case EXISTS -> answerSet(EXISTS, 0);
            case NOT_FOUND -> answerSet(NOT_FOUND, 0);
            case NOT_STORED -> answerSet(NOT_STORED, 0);
            case BUSY -> connection.reply(TextProtocol.BUSY);
            case TOO_LARGE, OUT_OF_MEMORY, NON_NUMERIC -> connection.reply(intake.refusal(status));
        }
    }

    /** {@code md}. */
    void delete(TextRequest newRequest) {
        MetaFlags flags = begin(newRequest);
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
                                    item.setExpiry(expiry(flags, 'T'));
                                }
                            });
        } else {
            status = service.store()
                    .delete(request.bytes(), request.keyOffset(0), request.keyLength(0), compareCas, nowSeconds);
            (status == StoreStatus.STORED ? counters.deleteHits : counters.deleteMisses).increment();
        }
        switch (status) {
            case STORED -> {
                if (!flags.has('q')) {
                    answer(HIT);
                }
            }
            case EXISTS -> answer(EXISTS);
            case NOT_FOUND -> answer(NOT_FOUND);
            case BUSY -> connection.reply(TextProtocol.BUSY);
            default -> connection.reply(intake.refusal(status));
        }
    }

    /** {@code ma}. */
    void arithmetic(TextRequest newRequest) {
        MetaFlags flags = begin(newRequest);
        char mode = flags.mode();
        boolean up = mode == 0 || mode == 'I' || mode == 'i' || mode == '+';
        if (!up && mode != 'D' && mode != 'd' && mode != '-') {
            connection.reply(TextProtocol.BAD_ARITHMETIC_MODE);
            return;
        }
        arithmetic.begin(flags.has('D') ? flags.number('D') : 1, up);
        StoreStatus status = StoreStatus.NOT_STORED;
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
                            item -> describeNumber(item, arithmetic.result(), false));
            if (status == StoreStatus.NOT_FOUND && flags.has('N')) {
                status = createNumber(flags); // NOT_STORED if somebody else created it
            }
        }
        ClassicCommands.countArithmetic(counters, up, status);
        switch (status) {
            case STORED -> {
                if (!flags.has('q')) {
                    connection.reply(line);
                }
            }
            case NOT_FOUND -> answer(NOT_FOUND);
            case EXISTS -> answer(EXISTS);
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
                request.bytes(), request.keyOffset(0), request.keyLength(0), 0, expiry(flags, 'N'), length, nowSeconds);
        if (item.status() != NewItem.Status.READY) {
            return StoreStatus.OUT_OF_MEMORY;
        }
        MemorySegment.copy(digits, 0, item.memory(), ValueLayout.JAVA_BYTE, item.valueOffset(), length);
        rule.reset(StoreMode.ADD).newCas(flags.has('E') ? flags.number('E') : 0).keyBinary(flags.has('b'));
        StoreStatus status = service.store().store(item, rule, nowSeconds);
        if (status == StoreStatus.STORED) {
            boolean there = service.store()
                    .get(
                            request.bytes(),
                            request.keyOffset(0),
                            request.keyLength(0),
                            BEFORE_ANY_EXPIRY, // one that expires at once is created all the same, and not for ever
                            false,
                            stored -> describeNumber(stored, initial, true));
            return there ? StoreStatus.STORED : StoreStatus.NOT_STORED; // deleted already: once more
        }
        return status;
    }

    /** Prepares the answer of an ma, with the lock of the key held. */
    private void describeNumber(StoredItem item, long number, boolean created) {
        MetaFlags flags = request.meta();
        byte[] digits = new byte[DecimalValue.MAX_LENGTH];
        int length = TextProtocol.number(digits, 0, number);
        if (flags.has('v')) {
            line.begin(VALUE).add(length);
        } else {
            line.begin(HIT);
        }
        for (int i = 0; i < flags.count(); i++) {
            switch (flags.letter(i)) {
                case 'T' -> item.setExpiry(expiry(flags, 'T'));
                case 'N' -> {
                    if (created) {
                        item.setExpiry(expiry(flags, 'N'));
                    }
                }
                case 't' -> addTtl(item);
                case 'c' -> line.add(" c").add(item.cas());
                case 'O' -> addOpaque(flags, i);
                case 'k' -> addKey(item.isKeyBinary());
                default -> {}
            }
        }
        line.end();
        if (flags.has('v')) {
            line.add(digits, 0, length).end();
        }
    }

    /** {@code me}. */
    void debug(TextRequest newRequest) {
        begin(newRequest);
        boolean found = service.store()
                .get(
                        request.bytes(),
                        request.keyOffset(0),
                        request.keyLength(0),
                        nowSeconds,
                        false,
                        this::describeForDebugging);
        connection.reply(found ? line : line.begin(MISS).end());
    }

    private void describeForDebugging(StoredItem item) {
        line.begin("ME ");
        if (item.isKeyBinary()) {
            line.addBase64(request.bytes(), request.keyOffset(0), request.keyLength(0));
        } else {
            line.add(request.bytes(), request.keyOffset(0), request.keyLength(0));
        }
        line.add(" exp=");
        addSecondsLeft(item);
        line.add(" la=")
                .add(Math.max(0, (int) nowSeconds - item.lastAccess()))
                .add(" cas=")
                .add(item.cas())
                .add(item.isFetched() ? " fetch=yes" : " fetch=no")
                .add(" cls=")
                .add(item.sizeClass() + 1)
                .add(" size=")
                .add(item.itemLength())
                .end();
    }

    /** Gives back what the connection holds. */
    void release() {
        intake.release();
    }

    /** The answer to an ms, as memcached's: with the cas number where it is asked for, 0 if nothing was stored. */
    private void answerSet(String code, long cas) {
        line.begin(code);
        addReturned(request.meta(), cas, true);
        connection.reply(line.end());
    }

    /** An answer without an item: its code, opaque and key. */
    private void answer(String code) {
        line.begin(code);
        addReturned(request.meta(), 0, false);
        connection.reply(line.end());
    }

    private void addReturned(MetaFlags flags, long cas, boolean withCas) {
        for (int i = 0; i < flags.count(); i++) {
            switch (flags.letter(i)) {
                case 'O' -> addOpaque(flags, i);
                case 'k' -> addKey(flags.has('b'));
                case 'c' -> {
                    if (withCas) {
                        line.add(" c").add(cas);
                    }
                }
                default -> {}
            }
        }
    }

    private void addOpaque(MetaFlags flags, int index) {
        line.add(" ").add(request.bytes(), flags.offset(index), flags.length(index));
    }

    private void addKey(boolean binary) {
        line.add(" k");
        if (binary) {
            line.addBase64(request.bytes(), request.keyOffset(0), request.keyLength(0))
                    .add(" b");
        } else {
            line.add(request.bytes(), request.keyOffset(0), request.keyLength(0));
        }
    }

    private void addTtl(StoredItem item) {
        line.add(" t");
        addSecondsLeft(item);
    }

    private void addSecondsLeft(StoredItem item) {
        if (item.expiry() == 0) {
            line.add("-1");
        } else {
            line.add(Math.max(0, item.expiry() - nowSeconds));
        }
    }

    private int expiry(MetaFlags flags, char letter) {
        return service.expiry((int) flags.number(letter), nowSeconds);
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
