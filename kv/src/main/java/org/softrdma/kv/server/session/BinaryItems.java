package org.softrdma.kv.server.session;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.binary.AnswerFrame;
import org.softrdma.kv.binary.BinaryOperation;
import org.softrdma.kv.binary.BinaryRequest;
import org.softrdma.kv.binary.Status;
import org.softrdma.kv.memcached.DecimalValue;
import org.softrdma.kv.memcached.TextProtocol;
import org.softrdma.kv.server.watch.WatchLog;
import org.softrdma.kv.store.ItemVisitor;
import org.softrdma.kv.store.NewItem;
import org.softrdma.kv.store.StoreMode;
import org.softrdma.kv.store.StoreRule;
import org.softrdma.kv.store.StoreStatus;
import org.softrdma.kv.store.StoredItem;

/**
 * The binary requests of one connection that work on items, by the same calls of the store as those of the text
 * protocol. Owned by the thread of the connection.
 */
final class BinaryItems implements ItemVisitor {
    /** How often others may create and delete a number while this request tries to count it up. */
    private static final int MOST_ATTEMPTS = 1000;

    private static final byte[] NO_ROOM_FOR_ITEM = ascii("Out of memory allocating item");
    private static final byte[] NO_ROOM_FOR_NUMBER = ascii("Out of memory incrementing value");

    private final KvService service;
    private final ServerCounters counters;
    private final WatchLog watchLog;
    private final Conversation connection;
    private final BinaryRequest request;
    private final ValueIntake intake;
    private final StoreRule rule = new StoreRule();
    private final Arithmetic arithmetic = new Arithmetic();
    private final AnswerFrame frame = new AnswerFrame();
    private final byte[] digits = new byte[DecimalValue.MAX_LENGTH];

    /** How the value that is expected is to be stored. */
    private StoreMode mode = StoreMode.SET;

    // Of the request that is carried out, for visits.
    private boolean touching;
    private int expiry;

    /** The number is incremented, not decremented. */
    private boolean up;

    /** The cas number of the number that was stored last. */
    private long numberCas;

    /** Of the item that {@link #isEmpty} looks at. */
    private int valueLength;

    private final ItemVisitor numbers = this::counted;

    /**
     * Those of a new connection.
     *
     * @param request the one that is carried out, always the same object
     */
    BinaryItems(KvService service, Conversation connection, BinaryRequest request) {
        this.service = service;
        this.counters = service.counters();
        this.watchLog = service.watchLog();
        this.connection = connection;
        this.request = request;
        this.intake = new ValueIntake(service, connection);
    }

    /** get, touch, and both in one, with or without the key in the answer. */
    void get() {
        BinaryOperation operation = request.operation();
        long nowSeconds = service.nowSeconds();
        touching = operation != BinaryOperation.GET && operation != BinaryOperation.GETK;
        expiry = touching ? service.expiry(request.exptime(), nowSeconds) : 0;
        boolean found =
                service.store().get(request.bytes(), request.keyOffset(), request.keyLength(), nowSeconds, true, this);
        if (!found) {
            (touching ? counters.touchMisses : counters.getMisses).increment();
            if (watchLog.wants(WatchLog.FETCHERS)) {
                watchLog.missed(request.bytes(), request.keyOffset(), request.keyLength(), connection.number());
            }
        }
        service.prefixes().get(request.bytes(), request.keyOffset(), request.keyLength(), found);
        if (!found && !request.isQuiet()) {
            connection.reply(hasKey(operation) ? frame.miss(request) : frame.refuse(request, Status.NOT_FOUND));
        }
    }

    /** Answers with an item that a get found, with the lock of its key held. */
    @Override
    public void visit(StoredItem item) {
        BinaryOperation operation = request.operation();
        if (touching) {
            counters.touchHits.increment(item.sizeClass());
            item.setExpiry(expiry);
        } else {
            item.countHit();
        }
        if (watchLog.wants(WatchLog.FETCHERS)) {
            watchLog.fetched(request.bytes(), request.keyOffset(), request.keyLength(), item, connection.number());
        }
        if (operation == BinaryOperation.TOUCH) {
            connection.reply(frame.item(request, false, item.flags(), 0, item.cas()));
        } else {
            connection.reply(
                    frame.item(request, hasKey(operation), item.flags(), item.valueLength(), item.cas()), item);
        }
    }

    private static boolean hasKey(BinaryOperation operation) {
        return operation == BinaryOperation.GETK || operation == BinaryOperation.GATK;
    }

    /** A storage request: says where its value goes. */
    void store() {
        service.prefixes().set(request.bytes(), request.keyOffset(), request.keyLength());
        long nowSeconds = service.nowSeconds();
        boolean joins = request.operation() == BinaryOperation.APPEND || request.operation() == BinaryOperation.PREPEND;
        StoreMode asked = mode(request.operation());
        mode = request.cas() == 0 || joins ? asked : StoreMode.CAS;
        rule.reset(mode).compareCas(request.cas());
        int itemExpiry = joins ? 0 : service.expiry(request.exptime(), nowSeconds);
        StoreStatus begun = intake.begin(request, asked, itemExpiry);
        if (begun != StoreStatus.STORED) {
            refuse(begun);
        }
    }

    private void refuse(StoreStatus status) {
        tellStored(status, null);
        intake.refusal(status);
        connection.reply(
                status == StoreStatus.TOO_LARGE
                        ? frame.refuse(request, Status.TOO_LARGE)
                        : frame.refuse(request, Status.OUT_OF_MEMORY, NO_ROOM_FOR_ITEM));
    }

    private static StoreMode mode(BinaryOperation operation) {
        return switch (operation) {
            case ADD -> StoreMode.ADD;
            case REPLACE -> StoreMode.REPLACE;
            case APPEND -> StoreMode.APPEND;
            case PREPEND -> StoreMode.PREPEND;
            default -> StoreMode.SET;
        };
    }

    /** The value has come, or was skipped. */
    void endValue() {
        NewItem item = intake.end();
        if (item == null) {
            return; // it was skipped and is answered
        }
        if (item.status() != NewItem.Status.READY) {
            refuse(StoreStatus.OUT_OF_MEMORY);
            return;
        }
        counters.sets.increment(service.store().sizeClass(item));
        StoreStatus status = service.store().store(item, rule, service.nowSeconds());
        if (mode == StoreMode.CAS) {
            ClassicCommands.countCas(counters, status, item.oldSizeClass());
        }
        tellStored(status, item);
        switch (status) {
            case STORED -> {
                if (!request.isQuiet()) {
                    connection.reply(frame.done(request, item.cas()));
                }
            }
            case EXISTS -> connection.reply(frame.refuse(request, Status.EXISTS));
            case NOT_FOUND -> connection.reply(frame.refuse(request, Status.NOT_FOUND));
            case BUSY -> connection.reply(frame.refuse(request, Status.BUSY));
            case NOT_STORED -> connection.reply(frame.refuse(request, notStored()));
            case TOO_LARGE, OUT_OF_MEMORY, NON_NUMERIC -> {
                intake.refusal(status);
                connection.reply(frame.refuse(request, notStored()));
            }
        }
    }

    private void tellStored(StoreStatus status, @Nullable NewItem item) {
        if (watchLog.wants(WatchLog.MUTATIONS)) {
            long nowSeconds = service.nowSeconds();
            watchLog.stored(
                    request.bytes(),
                    request.keyOffset(),
                    request.keyLength(),
                    ClassicCommands.mutation(
                            status,
                            mode,
                            service.expiry(request.exptime(), nowSeconds) - nowSeconds,
                            item == null ? NewItem.NO_CLASS : service.store().sizeClass(item),
                            (int) Math.min(request.valueLength(), Integer.MAX_VALUE)),
                    connection.number());
        }
    }

    /** What memcached says when the condition of an operation does not hold. */
    private Status notStored() {
        return switch (mode) {
            case ADD -> Status.EXISTS;
            case REPLACE -> Status.NOT_FOUND;
            default -> Status.NOT_STORED;
        };
    }

    void delete() {
        service.prefixes().delete(request.bytes(), request.keyOffset(), request.keyLength());
        StoreStatus status = service.store()
                .delete(
                        request.bytes(),
                        request.keyOffset(),
                        request.keyLength(),
                        request.cas(),
                        service.nowSeconds(),
                        item -> counters.deleteHits.increment(item.sizeClass()));
        switch (status) {
            case STORED -> {
                if (!request.isQuiet()) {
                    connection.reply(frame.done(request, 0));
                }
            }
            case EXISTS -> connection.reply(frame.refuse(request, Status.EXISTS));
            default -> {
                counters.deleteMisses.increment();
                connection.reply(frame.refuse(request, Status.NOT_FOUND));
            }
        }
    }

    void incrementOrDecrement() {
        up = request.operation() == BinaryOperation.INCREMENT;
        long nowSeconds = service.nowSeconds();
        long number = request.initial();
        arithmetic.begin(request.delta(), up);
        StoreStatus status = StoreStatus.NOT_STORED;
        for (int left = MOST_ATTEMPTS; left > 0 && status == StoreStatus.NOT_STORED; left--) {
            status = service.store()
                    .rewrite(
                            request.bytes(),
                            request.keyOffset(),
                            request.keyLength(),
                            rule.reset(StoreMode.SET).compareCas(request.cas()),
                            arithmetic,
                            nowSeconds,
                            numbers);
            if (status == StoreStatus.NOT_FOUND && request.creates()) {
                status = create(nowSeconds); // NOT_STORED if somebody else created it
            } else {
                ClassicCommands.countMissingNumber(counters, up, status);
                number = arithmetic.result();
            }
        }
        switch (status) {
            case STORED -> {
                if (!request.isQuiet()) {
                    connection.reply(frame.number(request, number, numberCas));
                }
            }
            case NOT_FOUND -> connection.reply(frame.refuse(request, Status.NOT_FOUND));
            case EXISTS -> connection.reply(frame.refuse(request, isEmpty() ? Status.NON_NUMERIC : Status.EXISTS));
            case NON_NUMERIC -> connection.reply(frame.refuse(request, Status.NON_NUMERIC));
            case NOT_STORED, BUSY -> connection.reply(frame.refuse(request, Status.BUSY));
            case TOO_LARGE, OUT_OF_MEMORY ->
                connection.reply(frame.refuse(request, Status.OUT_OF_MEMORY, NO_ROOM_FOR_NUMBER));
        }
    }

    /** The number was changed. */
    private void counted(StoredItem item) {
        numberCas = item.cas();
        (up ? counters.incrHits : counters.decrHits).increment(item.sizeClass());
    }

    /** True if the value is empty: memcached looks at that before the cas number, and at all else behind it. */
    private boolean isEmpty() {
        valueLength = 1;
        service.store()
                .get(
                        request.bytes(),
                        request.keyOffset(),
                        request.keyLength(),
                        service.nowSeconds(),
                        false,
                        item -> valueLength = item.valueLength());
        return valueLength == 0;
    }

    private StoreStatus create(long nowSeconds) {
        int length = TextProtocol.number(digits, 0, request.initial());
        NewItem item = service.reserve(
                request.bytes(),
                request.keyOffset(),
                request.keyLength(),
                0,
                service.expiry(request.exptime(), nowSeconds),
                length,
                nowSeconds);
        if (item.status() != NewItem.Status.READY) {
            return StoreStatus.OUT_OF_MEMORY;
        }
        MemorySegment.copy(digits, 0, item.memory(), ValueLayout.JAVA_BYTE, item.valueOffset(), length);
        StoreStatus status = service.store().store(item, rule.reset(StoreMode.ADD), nowSeconds);
        if (status == StoreStatus.STORED) {
            numberCas = item.cas();
        }
        return status;
    }

    /** All that has come is used up, and the value is not whole. */
    void awaitValue() {
        intake.await();
    }

    /** Gives back what the connection holds. */
    void release() {
        intake.release();
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
