package org.softrdma.kv.server.session;

import java.nio.charset.StandardCharsets;
import org.softrdma.kv.item.Locator;
import org.softrdma.kv.memcached.ReplyLine;
import org.softrdma.kv.memcached.TextCommand;
import org.softrdma.kv.memcached.TextProtocol;
import org.softrdma.kv.memcached.TextRequest;
import org.softrdma.kv.store.ItemVisitor;
import org.softrdma.kv.store.NewItem;
import org.softrdma.kv.store.StoreMode;
import org.softrdma.kv.store.StoreStatus;
import org.softrdma.kv.store.StoredItem;

/**
 * The classic text commands of one connection that work on items: what they ask for, and how they are answered. Owned by
 * the thread of the connection.
 */
final class ClassicCommands implements ItemOperations.StoreAnswer, ItemOperations.NumberAnswer {
    private final KvService service;
    private final ItemOperations items;
    private final Conversation connection;
    private final ReplyLine line = new ReplyLine();
    private final byte[] scratch = new byte[TextProtocol.MAX_VALUE_LINE_LENGTH];
    private final ItemVisitor value = this::value;
    private final ItemVisitor touched = this::touched;
    private boolean withLocators;

    private TextRequest request = new TextRequest();
    private int nextKey;
    private boolean touching;
    private int expiry;

    ClassicCommands(KvService service, ItemOperations items, Conversation connection) {
        this.service = service;
        this.items = items;
        this.connection = connection;
    }

    /** From now on STORED carries a locator. */
    void answerLocators() {
        withLocators = true;
    }

    private long begin(TextRequest newRequest) {
        request = newRequest;
        long nowSeconds = service.nowSeconds();
        items.begin(newRequest.key(0), nowSeconds);
        return nowSeconds;
    }

    // ---- get and touch

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
            items.begin(request.key(nextKey), nowSeconds);
            boolean found = items.find(true, touching, value);
            if (!found) {
                items.missed(touching);
            }
            items.countGetOfPrefix(found);
        }
        if (!request.isPart()) {
            connection.reply(TextProtocol.END);
        }
    }

    private void value(StoredItem item) {
        if (touching) {
            item.setExpiry(expiry);
        }
        TextCommand command = request.command();
        int lineLength = TextProtocol.valueLine(
                scratch,
                request.key(nextKey),
                item.flags(),
                item.valueLength(),
                command == TextCommand.GETS || command == TextCommand.GATS,
                item.cas());
        connection.reply(scratch, lineLength, item);
    }

    void touch(TextRequest newRequest) {
        expiry = service.expiry(newRequest.exptime(), begin(newRequest));
        boolean found = items.find(true, true, touched);
        if (!found) {
            items.missed(true);
        }
        answer(found ? TextProtocol.TOUCHED : TextProtocol.NOT_FOUND);
    }

    private void touched(StoredItem item) {
        item.setExpiry(expiry);
    }

    // ---- store

    /** A storage command: says where its value goes. */
    void store(TextRequest newRequest) {
        int itemExpiry = service.expiry(newRequest.exptime(), begin(newRequest));
        items.countSetOfPrefix();
        StoreMode mode = mode(newRequest.command());
        items.rule().reset(mode).compareCas(newRequest.number());
        items.store(mode == StoreMode.SET, newRequest.flags(), itemExpiry, newRequest.valueLength(), this);
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

    @Override
    public void stored(StoreStatus status, NewItem item) {
        switch (status) {
            case STORED -> stored(item.locator());
            case EXISTS -> answer(TextProtocol.EXISTS);
            case NOT_FOUND -> answer(TextProtocol.NOT_FOUND);
            case NOT_STORED, NON_NUMERIC -> answer(TextProtocol.NOT_STORED);
            case BUSY -> answer(TextProtocol.BUSY);
            case TOO_LARGE, OUT_OF_MEMORY -> refused(status);
        }
    }

    private void stored(Locator locator) {
        if (withLocators && !request.noreply()) {
            connection.reply(TextProtocol.STORED_AT);
            connection.reply(locator.toHex().getBytes(StandardCharsets.US_ASCII));
            connection.reply(TextProtocol.CRLF);
        } else {
            answer(TextProtocol.STORED);
        }
    }

    @Override
    public void refused(StoreStatus status) {
        if (status == StoreStatus.TOO_LARGE) {
            answer(TextProtocol.TOO_LARGE);
        } else {
            connection.reply(TextProtocol.OUT_OF_MEMORY); // even after noreply, like memcached
        }
    }

    @Override
    public void unterminated() {
        answer(TextProtocol.BAD_DATA_CHUNK);
    }

    private void answer(byte[] text) {
        if (!request.noreply()) {
            connection.reply(text);
        }
    }

    // ---- delete and arithmetic

    void delete(TextRequest newRequest) {
        begin(newRequest);
        items.countDeleteOfPrefix();
        boolean found = items.delete(0) == StoreStatus.STORED;
        answer(found ? TextProtocol.DELETED : TextProtocol.NOT_FOUND);
    }

    void incrementOrDecrement(TextRequest newRequest) {
        begin(newRequest);
        boolean up = newRequest.command() == TextCommand.INCR;
        switch (items.count(newRequest.number(), up, 0, 0, null, this)) {
            case STORED -> {
                if (!newRequest.noreply()) {
                    connection.reply(line);
                }
            }
            case NOT_FOUND -> answer(TextProtocol.NOT_FOUND);
            case NON_NUMERIC -> answer(TextProtocol.NON_NUMERIC);
            case OUT_OF_MEMORY ->
                connection.reply(TextProtocol.OUT_OF_MEMORY_INCR); // even after noreply, like memcached
            case TOO_LARGE -> answer(TextProtocol.OUT_OF_MEMORY_INCR);
            case BUSY, EXISTS, NOT_STORED -> answer(TextProtocol.BUSY);
        }
    }

    @Override
    public void counted(StoredItem item, long number) {
        line.begin("").add(number).end();
    }

    @Override
    public boolean created(NewItem item, long number) {
        throw new IllegalStateException("incr and decr create nothing");
    }
}
