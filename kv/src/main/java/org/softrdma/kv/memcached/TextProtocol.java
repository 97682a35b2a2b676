package org.softrdma.kv.memcached;

import java.nio.charset.StandardCharsets;
import org.softrdma.kv.item.KeySlice;

/**
 * The words of memcached's text protocol as memcached 1.6 says them: clients and their tests compare strings. Arrays
 * are shared and never written.
 */
public final class TextProtocol {
    /** The longest key. */
    public static final int MAX_KEY_LENGTH = 250;

    /** The longest value that a command line may announce. */
    static final int MAX_VALUE_LENGTH = Integer.MAX_VALUE - 2;

    /** Ends every line and value. */
    public static final byte[] CRLF = line("");

    /** Ends the answer to get, gets and stats. */
    public static final byte[] END = line("END");

    /** A set succeeded. */
    public static final byte[] STORED = line("STORED");

    /** A set succeeded; a locator in hexadecimal digits and a line end follow. Only after {@code rdma hello}. */
    public static final byte[] STORED_AT = "STORED ".getBytes(StandardCharsets.US_ASCII);

    /** The condition of add, replace, append or prepend does not hold. */
    public static final byte[] NOT_STORED = line("NOT_STORED");

    /** The item was changed since its cas number was read. */
    public static final byte[] EXISTS = line("EXISTS");

    /** A touch succeeded. */
    public static final byte[] TOUCHED = line("TOUCHED");

    /** flush_all or verbosity succeeded. */
    public static final byte[] OK = line("OK");

    /** Answers {@code mn}. */
    public static final byte[] META_NOOP = line("MN");

    /** A delete succeeded. */
    public static final byte[] DELETED = line("DELETED");

    /** There is no such key. */
    public static final byte[] NOT_FOUND = line("NOT_FOUND");

    /** {@code stats reset} succeeded. */
    public static final byte[] RESET = line("RESET");

    /** Unknown command, or a wrong number of words. */
    public static final byte[] ERROR = line("ERROR");

    /** A word that is not what it has to be. */
    public static final byte[] BAD_FORMAT = line("CLIENT_ERROR bad command line format");

    /** An exptime that is not a number. */
    public static final byte[] BAD_EXPTIME = line("CLIENT_ERROR invalid exptime argument");

    /** A delta that is not a number. */
    public static final byte[] BAD_DELTA = line("CLIENT_ERROR invalid numeric delta argument");

    /** incr or decr of a value that is not a number. */
    public static final byte[] NON_NUMERIC = line("CLIENT_ERROR cannot increment or decrement non-numeric value");

    /** A flag that md or ma does not know, or a flag given twice. */
    public static final byte[] BAD_META_FLAG = line("CLIENT_ERROR invalid or duplicate flag");

    /** A mode of ms that it does not know. */
    public static final byte[] BAD_SET_MODE = line("CLIENT_ERROR invalid mode for ms M token");

    /** A mode of ma that it does not know. */
    public static final byte[] BAD_ARITHMETIC_MODE = line("CLIENT_ERROR invalid mode for ma M token");

    /** More flags than an mg may have. */
    public static final byte[] TOO_MANY_GET_FLAGS = line("CLIENT_ERROR options flags are too long");

    /** More flags than another meta command may have. */
    public static final byte[] TOO_MANY_FLAGS = line("CLIENT_ERROR options flags too long");

    /** flush_all where it is switched off. */
    public static final byte[] FLUSH_DISABLED = line("CLIENT_ERROR flush_all not allowed");

    /** slabs reassign, or automove other than 0, where a page stays with its class. */
    public static final byte[] REASSIGN_DISABLED = line("CLIENT_ERROR slab reassignment disabled");

    /** slabs reassign while another page is on its way. */
    public static final byte[] REASSIGN_BUSY = line("BUSY currently processing reassign request");

    /** slabs reassign from or to a class that does not exist. */
    public static final byte[] REASSIGN_BAD_CLASS = line("BADCLASS invalid src or dst class id");

    /** slabs reassign from a class that has one page at most. */
    public static final byte[] REASSIGN_NO_SPARE = line("NOSPARE source class has no spare pages");

    /** slabs reassign from a class to itself. */
    public static final byte[] REASSIGN_SAME = line("SAME src and dst class are identical");

    /** lru_crawler crawl where the crawler is switched off. */
    public static final byte[] CRAWLER_DISABLED = line("CLIENT_ERROR lru crawler disabled");

    /** lru_crawler crawl of something that is no slab class. */
    public static final byte[] BAD_CLASS = line("BADCLASS invalid class id");

    /** watch where it is switched off. */
    public static final byte[] WATCH_DISABLED = line("CLIENT_ERROR watch commands not allowed");

    /** watch behind commands whose answers have not been sent. */
    public static final byte[] WATCH_PIPELINED = line("ERROR cannot pipeline other commands before watch");

    /** watch where as many watch as may. */
    public static final byte[] WATCHER_TOO_MANY = line("WATCHER_TOO_MANY log watcher limit reached");

    /** extstore, which is not offered. */
    public static final byte[] EXTSTORE_REFUSED =
            line("CLIENT_ERROR extstore is not offered: clients READ items from memory");

    /** lru tune with shares that leave nothing for COLD. */
    public static final byte[] LRU_PERCENTS = line("ERROR hot and warm pcts must not exceed 80");

    /** lru tune with a factor that is none. */
    public static final byte[] LRU_FACTORS = line("ERROR hot/warm age factors must be greater than 0");

    /** lru_crawler sleep with more than a second. */
    public static final byte[] LONG_SLEEP = line("CLIENT_ERROR sleep must be one second or less");

    /** lru_crawler enable where it is enabled, in memcached's words. */
    public static final byte[] CRAWLER_STARTED = line("ERROR failed to start lru crawler thread");

    /** lru_crawler crawl of what cannot be crawled. */
    public static final byte[] CRAWLER_ERROR = line("ERROR an unknown error happened");

    /** stats cachedump with too few words. */
    public static final byte[] BAD_LINE = line("CLIENT_ERROR bad command line");

    /** stats cachedump of a class that cannot be. */
    public static final byte[] BAD_SLAB = line("CLIENT_ERROR Illegal slab id");

    /** stats cachedump where it is switched off. */
    public static final byte[] CACHEDUMP_DISABLED = line("CLIENT_ERROR stats cachedump not allowed");

    /** cache_memlimit below memcached's least. */
    public static final byte[] MEMLIMIT_TOO_SMALL = line("MEMLIMIT_TOO_SMALL cannot set maxbytes to less than 8m");

    /** cache_memlimit of more than any machine has. */
    public static final byte[] MEMLIMIT_TOO_LARGE = line("MEMLIMIT_ADJUST_FAILED input value is megabytes not bytes");

    /** A line of text where only the binary protocol is spoken; the connection is closed. */
    public static final byte[] TEXT_REFUSED = line("CLIENT_ERROR only the binary protocol is spoken here");

    /** refresh_certs without TLS, as memcached says it. */
    public static final byte[] NO_TLS = line("Error TLS not enabled");

    /** refresh_certs with files that are not good; the log says which. */
    public static final byte[] BAD_CERTIFICATES = line("SERVER_ERROR the certificates are not good, see the log");

    /** stats detail with something else than on, off or dump. */
    public static final byte[] BAD_DETAIL = line("CLIENT_ERROR usage: stats detail on|off|dump");

    /** Any command but a set, where clients have to say who they are first. */
    public static final byte[] UNAUTHENTICATED = line("CLIENT_ERROR unauthenticated");

    /** A wrong user or password. */
    public static final byte[] AUTHENTICATION_FAILURE = line("CLIENT_ERROR authentication failure");

    /** shutdown where it is not switched on. */
    public static final byte[] SHUTDOWN_DISABLED = line("ERROR: shutdown not enabled");

    /** A shutdown with a word that it does not know. */
    public static final byte[] BAD_SHUTDOWN = line("CLIENT_ERROR invalid shutdown mode");

    /** A delete with words it does not know. */
    public static final byte[] BAD_DELETE =
            line("CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]");

    /** The value was not followed by a line end. */
    public static final byte[] BAD_DATA_CHUNK = line("CLIENT_ERROR bad data chunk");

    /** The item does not fit into the largest chunk. */
    public static final byte[] TOO_LARGE = line("SERVER_ERROR object too large for cache");

    /** No memory is left for the result of incr or decr. */
    public static final byte[] OUT_OF_MEMORY_INCR = line("SERVER_ERROR out of memory");

    /** Too much memory is taken by answers that nobody reads. */
    public static final byte[] OUT_OF_MEMORY_STATS = line("SERVER_ERROR out of memory writing stats");

    /** An item that others keep changing, or whose bytes too many hold, was not changed. */
    public static final byte[] BUSY = line("SERVER_ERROR item is busy, try again");

    /** No memory is left. */
    public static final byte[] OUT_OF_MEMORY = line("SERVER_ERROR out of memory storing object");

    /** More connections than allowed; the connection is closed. */
    public static final byte[] TOO_MANY_CONNECTIONS = line("ERROR Too many open connections");

    private static final byte[] VALUE = "VALUE ".getBytes(StandardCharsets.US_ASCII);

    private TextProtocol() {}

    /**
     * A line with its end, as bytes.
     *
     * @param text the line, ASCII
     */
    public static byte[] line(String text) {
        return (text + "\r\n").getBytes(StandardCharsets.US_ASCII);
    }

    /** Bytes that {@link #valueLine} may need for a key of the greatest length. */
    public static final int MAX_VALUE_LINE_LENGTH = VALUE.length + MAX_KEY_LENGTH + 1 + 10 + 1 + 10 + 1 + 20 + 2;

    /**
     * Writes the line before a value: {@code VALUE key flags length [cas]}.
     *
     * @param line takes the line from its start, {@link #MAX_VALUE_LINE_LENGTH} bytes are enough
     * @param flags the client's flags, unsigned
     * @param valueLength bytes of the value
     * @param withCas true for gets
     * @param cas the cas number, unsigned
     * @return bytes written
     */
    public static int valueLine(byte[] line, KeySlice key, int flags, int valueLength, boolean withCas, long cas) {
        System.arraycopy(VALUE, 0, line, 0, VALUE.length);
        int at = VALUE.length;
        System.arraycopy(key.bytes(), key.offset(), line, at, key.length());
        at += key.length();
        line[at++] = ' ';
        at = number(line, at, Integer.toUnsignedLong(flags));
        line[at++] = ' ';
        at = number(line, at, valueLength);
        if (withCas) {
            line[at++] = ' ';
            at = number(line, at, cas);
        }
        line[at++] = '\r';
        line[at++] = '\n';
        return at;
    }

    /**
     * Writes an unsigned number in decimal digits.
     *
     * @param target takes the digits
     * @param from where the first goes
     * @param value the number, unsigned
     * @return where the next byte goes
     */
    public static int number(byte[] target, int from, long value) {
        int digits = 1;
        for (long rest = Long.divideUnsigned(value, 10); rest != 0; rest = Long.divideUnsigned(rest, 10)) {
            digits++;
        }
        long rest = value;
        for (int at = from + digits - 1; at >= from; at--) {
            target[at] = (byte) ('0' + Long.remainderUnsigned(rest, 10));
            rest = Long.divideUnsigned(rest, 10);
        }
        return from + digits;
    }
}
