package org.softrdma.kv.server.session;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.binary.AnswerFrame;
import org.softrdma.kv.binary.BinaryOperation;
import org.softrdma.kv.binary.BinaryRequest;
import org.softrdma.kv.binary.Status;
import org.softrdma.kv.store.ItemVisitor;
import org.softrdma.kv.store.NewItem;
import org.softrdma.kv.store.StoreMode;
import org.softrdma.kv.store.StoreStatus;
import org.softrdma.kv.store.StoredItem;

/**
 * The binary requests of one connection that work on items: what they ask for, and how they are answered. Owned by the
 * thread of the connection.
 */
final class BinaryItems implements ItemOperations.StoreAnswer, ItemOperations.NumberAnswer {
    /** Longer than the longest item may be: what a request announces beyond it counts as so long. */
    private static final int LONGEST_VALUE = Integer.MAX_VALUE / 2;

    private static final byte[] NO_ROOM_FOR_ITEM = ascii("Out of memory allocating item");
    private static final byte[] NO_ROOM_FOR_NUMBER = ascii("Out of memory incrementing value");

    private final KvService service;
    private final ItemOperations items;
    private final Conversation connection;
    private final BinaryRequest request;
    private final AnswerFrame frame = new AnswerFrame();
    private final ItemVisitor value = this::value;

    // Of the request that is carried out, for visits.
    private boolean touching;
    private int expiry;
    private long numberStored;
    private long numberCas;

    /**
     * Those of a new connection.
     *
     * @param request the one that is carried out, always the same object
     */
    BinaryItems(KvService service, Conversation connection, BinaryRequest request) {
        this.service = service;
        this.items = new ItemOperations(service, connection);
        this.connection = connection;
        this.request = request;
    }

    private long begin() {
        long nowSeconds = service.nowSeconds();
        items.begin(request.key(), nowSeconds);
        return nowSeconds;
    }

    // ---- get and touch

    /** get, touch, and both in one, with or without the key in the answer. */
    void get() {
        BinaryOperation operation = request.operation();
        long nowSeconds = begin();
        touching = operation != BinaryOperation.GET && operation != BinaryOperation.GETK;
        expiry = touching ? service.expiry(request.exptime(), nowSeconds) : 0;
        boolean found = items.find(true, touching, value);
        if (!found) {
            items.missed(touching);
        }
        items.countGetOfPrefix(found); // of a touch as well, as memcached does here
        if (!found && !request.isQuiet()) {
            connection.reply(hasKey(operation) ? frame.miss(request) : frame.refuse(request, Status.NOT_FOUND));
        }
    }

    private void value(StoredItem item) {
        BinaryOperation operation = request.operation();
        if (touching) {
            item.setExpiry(expiry);
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

    // ---- store

    /** A storage request: says where its value goes. */
    void store() {
        long nowSeconds = begin();
        items.countSetOfPrefix();
        StoreMode asked = mode(request.operation());
        boolean joins = asked == StoreMode.APPEND || asked == StoreMode.PREPEND;
        items.rule().reset(request.cas() == 0 || joins ? asked : StoreMode.CAS).compareCas(request.cas());
        items.store(
                asked == StoreMode.SET, // with a cas number, too
                request.flags(),
                joins ? 0 : service.expiry(request.exptime(), nowSeconds),
                (int) Math.min(request.valueLength(), LONGEST_VALUE),
                this);
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
        items.endValue(true);
    }

    @Override
    public void stored(StoreStatus status, NewItem item) {
        switch (status) {
            case STORED -> {
                if (!request.isQuiet()) {
                    connection.reply(frame.done(request, item.cas()));
                }
            }
            case EXISTS -> connection.reply(frame.refuse(request, Status.EXISTS));
            case NOT_FOUND -> connection.reply(frame.refuse(request, Status.NOT_FOUND));
            case BUSY -> connection.reply(frame.refuse(request, Status.BUSY));
            case NOT_STORED, TOO_LARGE, OUT_OF_MEMORY, NON_NUMERIC ->
                connection.reply(frame.refuse(request, notStored()));
        }
    }

    /** What memcached says when the condition of an operation does not hold. */
    private Status notStored() {
        return switch (items.rule().mode()) {
            case ADD -> Status.EXISTS;
            case REPLACE -> Status.NOT_FOUND;
            default -> Status.NOT_STORED;
        };
    }

    @Override
    public void refused(StoreStatus status) {
        connection.reply(
                status == StoreStatus.TOO_LARGE
                        ? frame.refuse(request, Status.TOO_LARGE)
                        : frame.refuse(request, Status.OUT_OF_MEMORY, NO_ROOM_FOR_ITEM));
    }

    @Override
    public void unterminated() {
        throw new IllegalStateException("no line end follows a value of the binary protocol");
    }

    // ---- delete and arithmetic

    void delete() {
        begin();
        items.countDeleteOfPrefix();
        switch (items.delete(request.cas())) {
            case STORED -> {
                if (!request.isQuiet()) {
                    connection.reply(frame.done(request, 0));
                }
            }
            case EXISTS -> connection.reply(frame.refuse(request, Status.EXISTS));
            default -> connection.reply(frame.refuse(request, Status.NOT_FOUND));
        }
    }

    void incrementOrDecrement() {
        long nowSeconds = begin();
        ItemOperations.@Nullable Creation creation = request.creates()
                ? new ItemOperations.Creation(request.initial(), service.expiry(request.exptime(), nowSeconds), false)
                : null;
        boolean up = request.operation() == BinaryOperation.INCREMENT;
        switch (items.count(request.delta(), up, request.cas(), 0, creation, this)) {
            case STORED -> {
                if (!request.isQuiet()) {
                    connection.reply(frame.number(request, numberStored, numberCas));
                }
            }
            case NOT_FOUND -> connection.reply(frame.refuse(request, Status.NOT_FOUND));
            case EXISTS -> connection.reply(frame.refuse(request, Status.EXISTS));
            case NON_NUMERIC -> connection.reply(frame.refuse(request, Status.NON_NUMERIC));
            case NOT_STORED, BUSY -> connection.reply(frame.refuse(request, Status.BUSY));
            case TOO_LARGE, OUT_OF_MEMORY ->
                connection.reply(frame.refuse(request, Status.OUT_OF_MEMORY, NO_ROOM_FOR_NUMBER));
        }
    }

    @Override
    public void counted(StoredItem item, long number) {
        numberStored = number;
        numberCas = item.cas();
    }

    @Override
    public boolean created(NewItem item, long number) {
        numberStored = number;
        numberCas = item.cas();
        return true;
    }

    /** All that has come is used up, and the value is not whole. */
    void awaitValue() {
        items.awaitValue();
    }

    /** Gives back what the connection holds. */
    void release() {
        items.release();
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
