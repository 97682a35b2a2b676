package org.softrdma.kv.memcached;

import java.util.regex.Pattern;
import org.softrdma.kv.item.KeySlice;

/**
 * One command line, taken apart by a {@link TextDecoder}. Reused: what it says holds until the next line. Which
 * fields mean something depends on the command.
 */
public final class TextRequest {
    static final byte[] NO_ERROR = {};

    private static final Pattern DECIMAL =
            Pattern.compile("[+-]?([0-9]{1,15}\\.?[0-9]{0,15}|\\.[0-9]{1,15})([eE][+-]?[0-9]{1,3})?");

    final LineWords words = new LineWords();
    final MetaFlags meta = new MetaFlags(words);
    private final KeySlice oneKey = new KeySlice();

    // Set by the parser.
    TextCommand command = TextCommand.INVALID;
    byte[] error = NO_ERROR;
    boolean noreply;
    int key;
    int keys;
    int flags;
    int exptime;
    int valueLength;
    long number;
    int rkey;
    long address;
    long length;
    long opaque;
    boolean valueFollows;
    boolean part;

    /** An empty request. */
    public TextRequest() {}

    /** What it asks for. */
    public TextCommand command() {
        return command;
    }

    /** The line that answers an invalid request; empty for others. Shared, not to be written. */
    public byte[] error() {
        return error;
    }

    /** True if nothing may be answered, not even {@link #error()}. */
    public boolean noreply() {
        return noreply;
    }

    /** True if further keys of the same get follow in the next request, and only that one ends the answer. */
    public boolean isPart() {
        return part;
    }

    /** The array that holds the line. */
    public byte[] bytes() {
        return words.bytes();
    }

    /** The whole line without its end, for a log: its words with a blank in between. A copy. */
    public byte[] line() {
        return words.join();
    }

    /** Number of keys. */
    public int keyCount() {
        return keys;
    }

    /**
     * A key of 1 to 250 bytes, until the next is asked for.
     *
     * @param index 0 to {@link #keyCount()} - 1
     */
    public KeySlice key(int index) {
        int word = key + index;
        return oneKey.wrap(words.bytes(), words.start(word), words.length(word));
    }

    /** Flags of a storage command. */
    public int flags() {
        return flags;
    }

    /** Exptime of a storage command, touch or gat, or delay of flush_all, as the client gave it, see {@link Expiry}. */
    public int exptime() {
        return exptime;
    }

    /** Bytes of the value of a storage command, without the line end behind it. */
    public int valueLength() {
        return valueLength;
    }

    /**
     * True if a value of {@link #valueLength()} bytes follows, be the request valid or not. Of one that is refused it
     * has to be skipped: memcached does so for ms, but takes the value of a set that it refuses for commands, which
     * lets whoever may choose a value choose commands.
     */
    public boolean valueFollows() {
        return valueFollows;
    }

    /**
     * The cas number of cas, the delta of incr and decr, the level of verbosity, the megabytes of cache_memlimit;
     * unsigned.
     */
    public long number() {
        return number;
    }

    /** The flags of a meta command. */
    public MetaFlags meta() {
        return meta;
    }

    /** Key of the client's buffer, of an rget. */
    public int rkey() {
        return rkey;
    }

    /** Address of the client's buffer, of an rget. */
    public long address() {
        return address;
    }

    /** Bytes of the client's buffer, of an rget. */
    public long length() {
        return length;
    }

    /** The number that the answer to an rget repeats. */
    public long opaque() {
        return opaque;
    }

    /**
     * A word behind the command, or an empty string.
     *
     * @param index 1 for the first
     */
    public String argument(int index) {
        return index < words.count() ? words.text(index) : "";
    }

    /**
     * True if a word behind the command is a number of 64 bits without a sign, as memcached reads it.
     *
     * @param index 1 for the first
     */
    public boolean isUnsigned(int index) {
        return index < words.count() && words.isUnsigned64(index, 0);
    }

    /**
     * The lower 32 bits of a word that is such a number: what memcached keeps.
     *
     * @param index 1 for the first
     */
    public long unsigned32(int index) {
        return Integer.toUnsignedLong((int) words.number(index, 0));
    }

    /**
     * True if a word behind the command is a number of 64 bits, as memcached reads it.
     *
     * @param index 1 for the first
     */
    public boolean isSigned(int index) {
        return index < words.count() && words.isSigned64(index, 0);
    }

    /**
     * The lower 32 bits of a word that is such a number: what memcached keeps.
     *
     * @param index 1 for the first
     */
    public int signed32(int index) {
        return (int) words.number(index, 0);
    }

    /**
     * True if a word behind the command is a decimal fraction.
     *
     * @param index 1 for the first
     */
    public boolean isDecimal(int index) {
        return DECIMAL.matcher(argument(index)).matches();
    }

    /**
     * The value of a word that is one.
     *
     * @param index 1 for the first
     */
    public double decimal(int index) {
        return Double.parseDouble(argument(index));
    }

    /** Number of words behind the command. */
    public int argumentCount() {
        return words.count() - 1;
    }

    /** Words whose bounds it has room for. */
    int keptWords() {
        return words.capacity();
    }

    /** The request is done with. */
    void release() {
        words.release();
    }
}
