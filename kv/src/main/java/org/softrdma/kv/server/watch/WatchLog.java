package org.softrdma.kv.server.watch;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.item.KeySlice;
import org.softrdma.kv.store.StoredItem;

/**
 * What clients see by {@code watch}: a line for each event that they have asked for, as memcached writes them. While
 * nobody watches, an event costs a look at one field. Any thread.
 */
public final class WatchLog {
    /** {@code watch fetchers}. */
    public static final int FETCHERS = 1;

    /** {@code watch mutations}. */
    public static final int MUTATIONS = 1 << 1;

    /** {@code watch evictions}. */
    public static final int EVICTIONS = 1 << 2;

    /** {@code watch connevents}. */
    public static final int CONNECTIONS = 1 << 3;

    private static final int MOST_WATCHERS = 20;
    private static final long MICROS_PER_SECOND = 1_000_000;
    private static final char[] HEX = "0123456789ABCDEF".toCharArray();

    private final LongSupplier nowMicros;
    private final int bufferBytes;
    private final List<Watcher> watchers = new CopyOnWriteArrayList<>();
    private final ReentrantLock lock = new ReentrantLock();
    private final AtomicLong lastId = new AtomicLong();
    private final LongAdder written = new LongAdder();
    private final LongAdder sent = new LongAdder();
    private final LongAdder skipped = new LongAdder();
    private volatile int watched;

    /**
     * Nobody watches yet.
     *
     * @param nowMicros the wall clock, in microseconds since 1970
     * @param bufferBytes that a watcher who does not read may hold
     */
    public WatchLog(LongSupplier nowMicros, int bufferBytes) {
        this.nowMicros = nowMicros;
        this.bufferBytes = bufferBytes;
    }

    /**
     * Lets a connection watch; false if too many do.
     *
     * @param watcher which
     */
    public boolean add(Watcher watcher) {
        lock.lock();
        try {
            if (watchers.size() >= MOST_WATCHERS) {
                return false;
            }
            watchers.add(watcher);
            watchedChanged();
            return true;
        } finally {
            lock.unlock();
        }
    }

    /**
     * A connection watches no more.
     *
     * @param watcher which
     */
    public void remove(Watcher watcher) {
        lock.lock();
        try {
            watchers.remove(watcher);
            watchedChanged();
        } finally {
            lock.unlock();
        }
    }

    private void watchedChanged() {
        watched = watchers.stream().mapToInt(Watcher::events).reduce(0, (all, events) -> all | events);
    }

    /** What may wait for a watcher. */
    public int bufferBytes() {
        return bufferBytes;
    }

    /**
     * True if somebody wants to see such events.
     *
     * @param events {@link #FETCHERS} and others
     */
    public boolean wants(int events) {
        return (watched & events) != 0;
    }

    /**
     * A key was asked for, and its item found.
     *
     * @param item what was found
     * @param connection number of the client's connection
     */
    public void fetched(KeySlice key, StoredItem item, long connection) {
        fetch(key, "found", item.sizeClass() + 1, item.valueLength(), connection);
    }

    /**
     * A key was asked for that has no item.
     *
     * @param connection number of the client's connection
     */
    public void missed(KeySlice key, long connection) {
        fetch(key, "not_found", 0, 0, connection);
    }

    private void fetch(KeySlice key, String status, int number, int size, long connection) {
        StringBuilder line = begin("item_get").append(" key=");
        appendKey(line, key);
        line.append(" status=").append(status);
        tell(
                FETCHERS,
                line.append(" clsid=")
                        .append(number)
                        .append(" cfd=")
                        .append(connection)
                        .append(" size=")
                        .append(size));
    }

    /**
     * A storage command has ended.
     *
     * @param what became of it
     * @param connection number of the client's connection
     */
    public void stored(KeySlice key, Mutation what, long connection) {
        StringBuilder line = begin("item_store").append(" key=");
        appendKey(line, key);
        line.append(" status=").append(what.status).append(" cmd=").append(what.command);
        line.append(" ttl=").append(what.ttlSeconds).append(" clsid=").append(what.sizeClass + 1);
        tell(MUTATIONS, line.append(" cfd=").append(connection).append(" size=").append(what.valueLength));
    }

    /**
     * What became of a storage command.
     *
     * @param status as memcached calls it
     * @param command as memcached calls it
     * @param ttlSeconds the life of the item, 0 for ever
     * @param sizeClass of the item, -1 if there is none
     * @param valueLength bytes of the value
     */
    public record Mutation(String status, String command, long ttlSeconds, int sizeClass, int valueLength) {}

    /**
     * An item has to make room. With locks of the store held.
     *
     * @param item which
     * @param nowSeconds the time
     */
    public void evicted(StoredItem item, long nowSeconds) {
        StringBuilder line = begin("eviction").append(" key=");
        appendKey(line, new KeySlice(item.key()));
        line.append(item.isFetched() ? " fetch=yes" : " fetch=no");
        line.append(" ttl=").append(item.expiry() == 0 ? -1 : item.expiry() - nowSeconds);
        line.append(" la=").append(Math.max(0, (int) nowSeconds - item.lastAccess()));
        tell(
                EVICTIONS,
                line.append(" clsid=")
                        .append(item.sizeClass() + 1)
                        .append(" size=")
                        .append(item.valueLength()));
    }

    /**
     * A client has connected.
     *
     * @param address its address, or null
     * @param connection number of its connection
     */
    public void connected(@Nullable SocketAddress address, long connection) {
        tell(
                CONNECTIONS,
                appendAddress(begin("conn_new"), address).append(" cfd=").append(connection));
    }

    /**
     * A client is gone.
     *
     * @param address its address, or null
     * @param reason why
     * @param connection number of its connection
     */
    public void closed(@Nullable SocketAddress address, CloseReason reason, long connection) {
        StringBuilder line = appendAddress(begin("conn_close"), address);
        line.append(" reason=").append(reason.name().toLowerCase(Locale.ROOT));
        tell(CONNECTIONS, line.append(" cfd=").append(connection));
    }

    private static StringBuilder appendAddress(StringBuilder line, @Nullable SocketAddress address) {
        if (address instanceof InetSocketAddress tcp) {
            String host = tcp.getAddress().getHostAddress();
            return line.append(" rip=")
                    .append(host)
                    .append(" rport=")
                    .append(tcp.getPort())
                    .append(" transport=tcp");
        }
        return line.append(" rip=unix rport=0 transport=local");
    }

    private StringBuilder begin(String type) {
        long micros = nowMicros.getAsLong();
        return new StringBuilder("ts=")
                .append(micros / MICROS_PER_SECOND)
                .append('.')
                .append(String.format(Locale.ROOT, "%06d", micros % MICROS_PER_SECOND))
                .append(" gid=")
                .append(lastId.incrementAndGet())
                .append(" type=")
                .append(type);
    }

    /**
     * Writes a key as memcached does in such lines: letters, digits and {@code -._~} as they are, everything else as a
     * per cent sign and two hexadecimal digits.
     *
     * @param line takes it
     */
    public static void appendKey(StringBuilder line, KeySlice key) {
        byte[] bytes = key.bytes();
        int end = key.offset() + key.length();
        for (int i = key.offset(); i < end; i++) {
            int c = Byte.toUnsignedInt(bytes[i]);
            boolean plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
            if (plain || "-._~".indexOf(c) >= 0) {
                line.append((char) c);
            } else {
                line.append('%').append(HEX[c >> 4]).append(HEX[c & 0xF]);
            }
        }
    }

    private void tell(int event, StringBuilder text) {
        byte[] line = text.append('\n').toString().getBytes(StandardCharsets.US_ASCII);
        written.increment();
        for (Watcher each : watchers) {
            if ((each.events() & event) != 0) {
                (each.tell(line) ? sent : skipped).increment();
            }
        }
    }

    /** How many lines there were. */
    public long written() {
        return written.sum();
    }

    /** How many of them found no room at a watcher. */
    public long skipped() {
        return skipped.sum();
    }

    /** How many of them watchers got. */
    public long sent() {
        return sent.sum();
    }

    /** How many watch. */
    public int watchers() {
        return watchers.size();
    }

    /** Begins to count anew. */
    public void reset() {
        written.reset();
        skipped.reset();
        sent.reset();
    }
}
