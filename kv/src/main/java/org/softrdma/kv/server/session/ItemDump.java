package org.softrdma.kv.server.session;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Optional;
import org.softrdma.kv.item.KeySlice;
import org.softrdma.kv.memcached.TextProtocol;
import org.softrdma.kv.server.watch.WatchLog;
import org.softrdma.kv.store.ItemWalk;
import org.softrdma.kv.store.StoredItem;

/**
 * {@code lru_crawler metadump} and {@code mgdump} of one connection, and {@code stats cachedump}: the keys that are
 * there. Listed as fast as the client takes it, while the store goes on changing. Owned by the thread of the
 * connection.
 */
final class ItemDump {
    /** What a line says. */
    enum Form {
        /** Everything about an item. */
        METADUMP("metadump", "END"),
        /** The command that gets it. */
        MGDUMP("mgdump", "EN");

        private final String word;
        private final String end;

        Form(String word, String end) {
            this.word = word;
            this.end = end;
        }

        byte[] refusal() {
            return TextProtocol.line("ERROR " + word + " not allowed");
        }

        byte[] pipelined() {
            return TextProtocol.line("ERROR cannot pipeline other commands before " + word);
        }

        byte[] end() {
            return TextProtocol.line(end);
        }
    }

    /** memcached's limit of the answer to {@code stats cachedump}. */
    private static final int MOST_BYTES = 2 << 20;

    /** Items listed before the next look for room. */
    private static final int ITEMS_AT_ONCE = 32;

    private final KvService service;
    private final Conversation connection;
    private final StringBuilder lines = new StringBuilder();
    private Optional<ClassList> classes = Optional.empty();
    private Form form = Form.METADUMP;
    private int part;
    private long[] chunks = {};
    private int next;

    ItemDump(KvService service, Conversation connection) {
        this.service = service;
        this.connection = connection;
    }

    /** Lists all items of classes. */
    void begin(ClassList wanted, Form wantedForm) {
        classes = Optional.of(wanted);
        form = wantedForm;
        part = 0;
        next = 0;
        chunks = service.store().walk().chunks(0);
        listRest();
    }

    private void listRest() {
        while (part < service.store().parts()) {
            if (!connection.hasRoom()) {
                connection.continueLater(this::listRest);
                return;
            }
            listSome();
            if (next == chunks.length) {
                part++;
                next = 0;
                chunks = part < service.store().parts() ? service.store().walk().chunks(part) : new long[0];
            }
        }
        connection.reply(form.end());
    }

    private void listSome() {
        ItemWalk walk = service.store().walk();
        long nowSeconds = service.nowSeconds();
        int end = Math.min(next + ITEMS_AT_ONCE, chunks.length);
        for (; next < end; next++) {
            walk.visit(part, chunks[next], nowSeconds, this::addLine);
        }
        if (!lines.isEmpty()) {
            connection.reply(lines.toString().getBytes(StandardCharsets.ISO_8859_1));
            lines.setLength(0);
        }
    }

    private void addLine(StoredItem item) {
        if (classes.isPresent() && !classes.get().has(item.sizeClass())) {
            return;
        }
        byte[] key = item.key();
        if (form == Form.MGDUMP) {
            lines.append("mg ");
            if (item.isKeyBinary()) {
                lines.append(Base64.getEncoder().encodeToString(key)).append(" b");
            } else {
                lines.append(new String(key, StandardCharsets.ISO_8859_1));
            }
            lines.append("\r\n");
            return;
        }
        lines.append("key=");
        WatchLog.appendKey(lines, new KeySlice(key));
        lines.append(" exp=").append(item.expiry() == 0 ? -1 : item.expiry());
        lines.append(" la=").append(Integer.toUnsignedLong(item.lastAccess()));
        lines.append(" cas=").append(Long.toUnsignedString(item.cas()));
        lines.append(item.isFetched() ? " fetch=yes" : " fetch=no");
        lines.append(" cls=").append(item.sizeClass() + 1);
        lines.append(" size=").append(item.itemLength()).append('\n');
    }

    /** {@code stats cachedump}: items of one class that are evicted before others, at most so many, 0 for all. */
    void cold(int sizeClass, long limit) {
        StringBuilder answer = new StringBuilder();
        long[] shown = {0};
        service.store().walk().cold(sizeClass, item -> {
            if (!item.isKeyBinary()) {
                String line = "ITEM " + new String(item.key(), StandardCharsets.ISO_8859_1) + " [" + item.valueLength()
                        + " b; " + item.expiry() + " s]\r\n";
                if (answer.length() + line.length() > MOST_BYTES - TextProtocol.END.length) {
                    return false;
                }
                answer.append(line);
                shown[0]++;
            }
            return limit == 0 || shown[0] < limit;
        });
        answer.append(new String(TextProtocol.END, StandardCharsets.US_ASCII));
        connection.reply(answer.toString().getBytes(StandardCharsets.ISO_8859_1));
    }
}
