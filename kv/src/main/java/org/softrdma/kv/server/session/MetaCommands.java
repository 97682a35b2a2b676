package org.softrdma.kv.server.session;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.memcached.MetaFlags;
import org.softrdma.kv.memcached.TextProtocol;
import org.softrdma.kv.memcached.TextRequest;
import org.softrdma.kv.store.ItemRewriter;
import org.softrdma.kv.store.ItemVisitor;
import org.softrdma.kv.store.NewItem;
import org.softrdma.kv.store.StoreMode;
import org.softrdma.kv.store.StoreRule;
import org.softrdma.kv.store.StoreStatus;
import org.softrdma.kv.store.StoredItem;

/** The meta commands (mg, ms, md, ma, me) of one connection. Owned by the thread of the connection. */
final class MetaCommands implements ItemOperations.StoreAnswer, ItemOperations.NumberAnswer {
    /** The last cas number there is; no server gets that far. */
    private static final long NO_CAS = -1;

    private final KvService service;
    private final ServerCounters counters;
    private final ItemOperations items;
    private final Conversation connection;
    private final Invalidation invalidation = new Invalidation();
    private final MetaReply reply;
    private final ItemVisitor value = this::value;
    private final ItemOperations.VivifyAnswer vivified = this::vivified;

    private TextRequest request = new TextRequest();

    /** The last ma has created its number. */
    private boolean created;

    MetaCommands(KvService service, ItemOperations items, Conversation connection) {
        this.service = service;
        this.counters = service.counters();
        this.items = items;
        this.connection = connection;
        this.reply = new MetaReply(service, connection);
    }

    private MetaFlags begin(TextRequest newRequest) {
        counters.metas.increment();
        request = newRequest;
        long nowSeconds = service.nowSeconds();
        items.begin(newRequest.key(0), nowSeconds);
        reply.begin(newRequest, nowSeconds);
        return newRequest.meta();
    }

    // ---- mg

    /** {@code mg}. */
    void get(TextRequest newRequest) {
        MetaFlags flags = begin(newRequest);
        boolean bump = !flags.has('u');
        boolean found = items.find(bump, flags.has('T'), value)
                || (flags.has('N') && items.vivify(flags.has('b'), bump, vivified));
        if (!found) {
            items.missed(false); // even with T: memcached counts a touch only where it makes one
            if (!flags.has('q')) {
                reply.answer(MetaReply.MISS);
            }
        }
    }

    private void value(StoredItem item) {
        reply.describe(item, false);
    }

    private void vivified(StoredItem item, boolean isNew) {
        reply.describe(item, isNew); // N says when it expires once its turn among the flags comes
    }

    // ---- ms

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
        items.store(
                true, // whatever the mode is
                flags.has('F') ? (int) flags.number('F') : 0,
                flags.has('T') ? reply.expiry(flags, 'T') : 0,
                request.valueLength(),
                this);
    }

    private void prepareRule(MetaFlags flags, StoreMode mode) {
        StoreRule rule = items.rule()
                .reset(mode)
                .compareCas(flags.has('C') ? flags.number('C') : 0)
                .newCas(newCas(flags))
                .staleIfOlder(flags.has('I'))
                .keyBinary(flags.has('b'));
        if (flags.has('N')) {
            rule.createIfMissing(reply.expiry(flags, 'N'));
        }
    }

    private static long newCas(MetaFlags flags) {
        return flags.has('E') ? flags.number('E') : 0;
    }

    @Override
    public void stored(StoreStatus status, NewItem item) {
        switch (status) {
            case STORED -> {
                if (!request.meta().has('q')) {
                    reply.answerSet(MetaReply.HIT, item.cas());
                }
            }
            case EXISTS -> reply.answerSet(MetaReply.EXISTS, 0);
            case NOT_FOUND -> reply.answerSet(MetaReply.NOT_FOUND, 0);
            case NOT_STORED, NON_NUMERIC -> reply.answerSet(MetaReply.NOT_STORED, 0);
            case BUSY -> connection.reply(TextProtocol.BUSY);
            case TOO_LARGE, OUT_OF_MEMORY -> refused(status);
        }
    }

    @Override
    public void refused(StoreStatus status) {
        connection.reply(status == StoreStatus.TOO_LARGE ? TextProtocol.TOO_LARGE : TextProtocol.OUT_OF_MEMORY);
    }

    @Override
    public void unterminated() {
        connection.reply(TextProtocol.BAD_DATA_CHUNK);
    }

    // ---- md

    /** {@code md}. */
    void delete(TextRequest newRequest) {
        MetaFlags flags = begin(newRequest);
        long compareCas = flags.has('C') ? flags.number('C') : 0;
        if (flags.has('C') && compareCas == 0) {
            compareCas = NO_CAS; // 0 is no item's number, and to the store it means any
        }
        StoreStatus status = flags.has('I') ? invalidate(flags, compareCas) : items.delete(compareCas);
        switch (status) {
            case STORED -> {
                if (!flags.has('q')) {
                    reply.answer(MetaReply.HIT);
                }
            }
            case EXISTS -> {
                counters.deleteMisses.increment(); // memcached counts it here only
                reply.answer(MetaReply.EXISTS);
            }
            case NOT_FOUND -> reply.answer(MetaReply.NOT_FOUND);
            case BUSY -> connection.reply(TextProtocol.BUSY);
            default -> {
                items.countRefusal(status);
                refused(status);
            }
        }
    }

    private StoreStatus invalidate(MetaFlags flags, long compareCas) {
        items.rule().reset(StoreMode.SET).compareCas(compareCas).newCas(newCas(flags));
        StoreStatus status = items.rewrite(invalidation, item -> {
            if (flags.has('T')) {
                item.setExpiry(reply.expiry(flags, 'T'));
            }
        });
        if (status == StoreStatus.NOT_FOUND) {
            counters.deleteMisses.increment();
        }
        return status;
    }

    // ---- ma

    /** {@code ma}. */
    void arithmetic(TextRequest newRequest) {
        MetaFlags flags = begin(newRequest);
        char mode = flags.mode();
        boolean up = mode == 0 || mode == 'I' || mode == 'i' || mode == '+';
        if (!up && mode != 'D' && mode != 'd' && mode != '-') {
            connection.reply(TextProtocol.BAD_ARITHMETIC_MODE);
            return;
        }
        ItemOperations.@Nullable Creation creation = flags.has('N')
                ? new ItemOperations.Creation(flags.has('J') ? flags.number('J') : 0, 0, flags.has('b')) // as for mg
                : null;
        created = false;
        StoreStatus status = items.count(
                flags.has('D') ? flags.number('D') : 1,
                up,
                flags.has('C') ? flags.number('C') : 0,
                newCas(flags),
                creation,
                this);
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

    @Override
    public void counted(StoredItem item, long number) {
        reply.describeNumber(item, number, item.cas(), false);
    }

    @Override
    public boolean created(NewItem item, long number) {
        created = true;
        return items.peek(stored -> reply.describeNumber(stored, number, item.cas(), true));
    }

    // ---- me

    /** {@code me}. */
    void debug(TextRequest newRequest) {
        begin(newRequest);
        items.tellLookup();
        if (items.peek(reply::describeForDebugging)) {
            reply.send();
        } else {
            reply.miss();
        }
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
