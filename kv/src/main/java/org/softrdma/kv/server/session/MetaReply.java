package org.softrdma.kv.server.session;

import org.softrdma.kv.memcached.DecimalValue;
import org.softrdma.kv.memcached.MetaFlags;
import org.softrdma.kv.memcached.ReplyLine;
import org.softrdma.kv.memcached.TextProtocol;
import org.softrdma.kv.memcached.TextRequest;
import org.softrdma.kv.store.StoredItem;

/**
 * The answers to meta commands: a code, and what the flags of the request ask for. Owned by the thread of the
 * connection.
 */
final class MetaReply {
    static final String HIT = "HD";
    private static final String VALUE = "VA ";
    static final String MISS = "EN";
    static final String NOT_FOUND = "NF";
    static final String NOT_STORED = "NS";
    static final String EXISTS = "EX";

    private final KvService service;
    private final Conversation connection;
    private final ReplyLine line = new ReplyLine();
    private final byte[] digits = new byte[DecimalValue.MAX_LENGTH];
    private TextRequest request = new TextRequest();
    private long nowSeconds;

    MetaReply(KvService service, Conversation connection) {
        this.service = service;
        this.connection = connection;
    }

    /** A request begins. */
    void begin(TextRequest newRequest, long now) {
        request = newRequest;
        nowSeconds = now;
    }

    /** Sends what was prepared with the lock of the key held. */
    void send() {
        connection.reply(line);
    }

    /** The answer to an me without an item. */
    void miss() {
        connection.reply(line.begin(MISS).end());
    }

    /** Answers a hit, with the lock of the key held. */
    void describe(StoredItem item, boolean created) {
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
                        item.setExpiry(expiry(flags, 'N')); // in their order: a T before it does not count, a t is -1
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

    /**
     * Prepares the answer of an ma, with the lock of the key held.
     *
     * @param cas of the item that has this number, which others may have counted up since it was created
     */
    void describeNumber(StoredItem item, long number, long cas, boolean created) {
        MetaFlags flags = request.meta();
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
                case 'c' -> line.add(" c").add(cas);
                case 'O' -> addOpaque(flags, i);
                case 'k' -> addKey(flags.has('b')); // as memcached: of the request, not of the item
                default -> {}
            }
        }
        line.end();
        if (flags.has('v')) {
            line.add(digits, 0, length).end();
        }
    }

    void describeForDebugging(StoredItem item) {
        line.begin("ME ");
        if (item.isKeyBinary()) {
            line.addBase64(request.key(0));
        } else {
            line.add(request.key(0));
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

    /** The answer to an ms, as memcached's: with the cas number where it is asked for, 0 if nothing was stored. */
    void answerSet(String code, long cas) {
        line.begin(code);
        addReturned(request.meta(), cas, true);
        connection.reply(line.end());
    }

    /** An answer without an item: its code, opaque and key. */
    void answer(String code) {
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
            line.addBase64(request.key(0)).add(" b");
        } else {
            line.add(request.key(0));
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

    int expiry(MetaFlags flags, char letter) {
        int exptime = (int) flags.number(letter); // the lower 32 bits count
        return service.expiry(exptime, nowSeconds);
    }
}
