package org.softrdma.kv.server.session;

import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.item.Locator;
import org.softrdma.kv.memcached.ReplyLine;
import org.softrdma.kv.memcached.TextCommand;
import org.softrdma.kv.memcached.TextProtocol;
import org.softrdma.kv.memcached.TextRequest;
import org.softrdma.kv.server.watch.WatchLog;
import org.softrdma.kv.store.ItemVisitor;
import org.softrdma.kv.store.NewItem;
import org.softrdma.kv.store.StoreMode;
import org.softrdma.kv.store.StoreRule;
import org.softrdma.kv.store.StoreStatus;
import org.softrdma.kv.store.StoredItem;

/** The classic text commands of one connection that work on items. Owned by the thread of the connection. */
final class ClassicCommands implements ItemVisitor, ValueTaker {
    private final KvService service;
    private final ServerCounters counters;
    private final WatchLog watchLog;
    private final WatchedLookup lookup;
    private final Conversation connection;
    private final StoreRule rule = new StoreRule();
    private final Arithmetic arithmetic = new Arithmetic();
    private final ReplyLine line = new ReplyLine();
    private final byte[] scratch = new byte[TextProtocol.MAX_VALUE_LINE_LENGTH];

    private final ItemVisitor deleted;
    private final ItemVisitor incremented;
    private final ItemVisitor decremented;
    private final ValueIntake intake;
    private TextCommand fillingCommand = TextCommand.INVALID;
    private boolean fillingNoreply;
    private boolean withLocators;

    private TextRequest request = new TextRequest();
    private int nextKey;
    private boolean touching;
    private int expiry;

    ClassicCommands(KvService service, Conversation connection) {
        this.service = service;
        this.counters = service.counters();
        this.watchLog = service.watchLog();
        this.lookup = new WatchedLookup(service, connection);
        this.connection = connection;
        this.deleted = item -> counters.deleteHits.increment(item.sizeClass());
        this.incremented = item -> counters.incrHits.increment(item.sizeClass());
        this.decremented = item -> counters.decrHits.increment(item.sizeClass());
        this.intake = new ValueIntake(service, connection);
    }

    /** From now on STORED carries a locator. */
    void answerLocators() {
        withLocators = true;
    }

    /** A get or gat begins; {@link #getRest} answers it. */
    void get(TextRequest newRequest) {
        request = newRequest;
        nextKey = 0;
        touching = newRequest.command() == TextCommand.GAT || newRequest.command() == TextCommand.GATS;
        expiry = touching ? service.expiry(newRequest.exptime(), service.nowSeconds()) : 0;
        getRest();
    }

    /** Answers further keys; stops, and is called again, when there is no room for output. */
    void getRest() {
        long nowSeconds = service.nowSeconds();
        for (; nextKey < request.keyCount(); nextKey++) {
            if (!connection.hasRoom()) {
                connection.continueLater(this::getRest);
                return;
            }
            boolean found = service.store()
                    .get(
                            request.bytes(),
                            request.keyOffset(nextKey),
                            request.keyLength(nextKey),
                            nowSeconds,
                            true,
                            this);
            if (!found) {
                missed();
            }
            service.prefixes().get(request.bytes(), request.keyOffset(nextKey), request.keyLength(nextKey), found);
        }
        if (!request.isPart()) {
            connection.reply(TextProtocol.END);
        }
    }

    /** As memcached counts: a gat is a touch, and no get. */
    private void missed() {
        (touching ? counters.touchMisses : counters.getMisses).increment();
        if (watchLog.wants(WatchLog.FETCHERS)) {
            watchLog.missed(
                    request.bytes(), request.keyOffset(nextKey), request.keyLength(nextKey), connection.number());
        }
    }

    /** Answers with an item that a get found, with the lock of its key held. */
    @Override
    public void visit(StoredItem item) {
        if (touching) {
            counters.touchHits.increment(item.sizeClass());
            item.setExpiry(expiry);
        } else {
            item.countHit();
        }
        if (watchLog.wants(WatchLog.FETCHERS)) {
            watchLog.fetched(
                    request.bytes(), request.keyOffset(nextKey), request.keyLength(nextKey), item, connection.number());
        }
        TextCommand command = request.command();
        int lineLength = TextProtocol.valueLine(
                scratch,
                request.bytes(),
                request.keyOffset(nextKey),
                request.keyLength(nextKey),
                item.flags(),
                item.valueLength(),
                command == TextCommand.GETS || command == TextCommand.GATS,
                item.cas());
        connection.reply(scratch, lineLength, item);
    }

    /** A storage command: says where its value goes. */
    void store(TextRequest newRequest) {
        request = newRequest;
        service.prefixes().set(newRequest.bytes(), newRequest.keyOffset(0), newRequest.keyLength(0));
        long nowSeconds = service.nowSeconds();
        fillingCommand = newRequest.command();
        fillingNoreply = newRequest.noreply();
        StoreMode mode = mode(fillingCommand);
        rule.reset(mode).compareCas(newRequest.number());
        StoreStatus begun =
                intake.begin(newRequest, mode, newRequest.flags(), service.expiry(newRequest.exptime(), nowSeconds));
        if (begun != StoreStatus.STORED) {
            tellStored(begun, null);
            refuse(begun);
        }
    }

    @Override
    public void endValue(boolean terminated) {
        NewItem item = intake.end();
        if (item == null) {
            return; // it was skipped and is answered
        }
        if (item.status() != NewItem.Status.READY) {
            tellStored(StoreStatus.OUT_OF_MEMORY, null);
            refuse(StoreStatus.OUT_OF_MEMORY);
            return;
        }
        int sizeClass = service.store().sizeClass(item);
        counters.sets.increment(sizeClass);
        if (!terminated) {
            service.store().abandon(item);
            answer(TextProtocol.BAD_DATA_CHUNK);
            return;
        }
        lookup.tell(request);
        StoreStatus status = service.store().store(item, rule, service.nowSeconds());
        if (fillingCommand == TextCommand.CAS) {
            countCas(counters, status, item.oldSizeClass());
        }
        tellStored(status, item);
        switch (status) {
            case STORED -> stored(item.locator());
            case EXISTS -> answer(TextProtocol.EXISTS);
            case NOT_FOUND -> answer(TextProtocol.NOT_FOUND);
            case NOT_STORED -> answer(TextProtocol.NOT_STORED);
            case BUSY -> answer(TextProtocol.BUSY);
            case TOO_LARGE, OUT_OF_MEMORY, NON_NUMERIC -> refuse(status);
        }
    }

    private void stored(Locator locator) {
        if (withLocators && !fillingNoreply) {
            connection.reply(TextProtocol.STORED_AT);
            connection.reply(locator.toHex().getBytes(StandardCharsets.US_ASCII));
            connection.reply(TextProtocol.CRLF);
        } else {
            answer(TextProtocol.STORED);
        }
    }

    private void refuse(StoreStatus status) {
        byte[] refusal = intake.refusal(status);
        if (status == StoreStatus.TOO_LARGE) {
            answer(refusal);
        } else {
            connection.reply(refusal); // even after noreply, like memcached
        }
    }

    private void answer(byte[] text) {
        if (!fillingNoreply) {
            connection.reply(text);
        }
    }

    /** By the class of the item that a cas replaces, or does not. */
    static void countCas(ServerCounters counters, StoreStatus status, int oldSizeClass) {
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
            long nowSeconds = service.nowSeconds();
            watchLog.stored(
                    request.bytes(),
                    request.keyOffset(0),
                    request.keyLength(0),
                    mutation(
                            status,
                            rule.mode(),
                            service.expiry(request.exptime(), nowSeconds) - nowSeconds,
                            item == null ? NewItem.NO_CLASS : service.store().sizeClass(item),
                            request.valueLength()),
                    connection.number());
        }
    }

    /** In memcached's words. */
    static WatchLog.Mutation mutation(StoreStatus status, StoreMode mode, long ttlSeconds, int sizeClass, int length) {
        return new WatchLog.Mutation(
                switch (status) {
                    case OUT_OF_MEMORY -> "no_memory";
                    case NON_NUMERIC, BUSY -> "not_stored";
                    default -> status.name().toLowerCase(Locale.ROOT);
                },
                mode.name().toLowerCase(Locale.ROOT),
                Math.max(0, ttlSeconds),
                sizeClass,
                length);
    }

    private static StoreMode mode(TextCommand command) {
        return switch (command) {
            case ADD -> StoreMode.ADD;
            case REPLACE -> StoreMode.REPLACE;
            case APPEND -> StoreMode.APPEND;
            case PREPEND -> StoreMode.PREPEND;
            case CAS -> StoreMode.CAS;
            default -> StoreMode.SET;
        };
    }

    void delete(TextRequest newRequest) {
        lookup.tell(newRequest);
        service.prefixes().delete(newRequest.bytes(), newRequest.keyOffset(0), newRequest.keyLength(0));
        boolean found = service.store()
                        .delete(
                                newRequest.bytes(),
                                newRequest.keyOffset(0),
                                newRequest.keyLength(0),
                                0,
                                service.nowSeconds(),
                                deleted)
                == StoreStatus.STORED;
        if (!found) {
            counters.deleteMisses.increment();
        }
        if (!newRequest.noreply()) {
            connection.reply(found ? TextProtocol.DELETED : TextProtocol.NOT_FOUND);
        }
    }

    void touch(TextRequest newRequest) {
        lookup.tell(newRequest);
        long nowSeconds = service.nowSeconds();
        int newExpiry = service.expiry(newRequest.exptime(), nowSeconds);
        boolean found = service.store()
                .get(newRequest.bytes(), newRequest.keyOffset(0), newRequest.keyLength(0), nowSeconds, true, item -> {
                    counters.touchHits.increment(item.sizeClass());
                    item.setExpiry(newExpiry);
                });
        if (!found) {
            counters.touchMisses.increment();
        }
        if (!newRequest.noreply()) {
            connection.reply(found ? TextProtocol.TOUCHED : TextProtocol.NOT_FOUND);
        }
    }

    void incrementOrDecrement(TextRequest newRequest) {
        lookup.tell(newRequest);
        boolean up = newRequest.command() == TextCommand.INCR;
        arithmetic.begin(newRequest.number(), up);
        StoreStatus status = service.store()
                .rewrite(
                        newRequest.bytes(),
                        newRequest.keyOffset(0),
                        newRequest.keyLength(0),
                        rule.reset(StoreMode.SET),
                        arithmetic,
                        service.nowSeconds(),
                        up ? incremented : decremented);
        countMissingNumber(counters, up, status);
        if (newRequest.noreply() && status != StoreStatus.OUT_OF_MEMORY) {
            return;
        }
        switch (status) {
            case STORED -> {
                line.begin("").add(arithmetic.result()).end();
                connection.reply(line);
            }
            case NOT_FOUND -> connection.reply(TextProtocol.NOT_FOUND);
            case NON_NUMERIC -> connection.reply(TextProtocol.NON_NUMERIC);
            case BUSY -> connection.reply(TextProtocol.BUSY);
            default -> connection.reply(TextProtocol.OUT_OF_MEMORY_INCR);
        }
    }

    /** As memcached counts. */
    static void countMissingNumber(ServerCounters counters, boolean up, StoreStatus status) {
        if (status == StoreStatus.NOT_FOUND) {
            (up ? counters.incrMisses : counters.decrMisses).increment();
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
}
