package org.softrdma.kv.memcached;

/**
 * One command line, taken apart. Reused: what it says holds until the next line is parsed. The order of the checks is
 * memcached's, so that a line with two faults gets the answer that memcached gives.
 */
public final class TextRequest {
    private static final byte[] NO_ERROR = {};
    private static final int MAX_META_WORDS = 19;
    private static final long MAX_RKEY = 0xFFFF_FFFFL;

    private final LineWords words = new LineWords();
    private final MetaFlags meta = new MetaFlags(words);

    private TextCommand command = TextCommand.INVALID;
    private byte[] error = NO_ERROR;
    private boolean noreply;
    private int key;
    private int keys;
    private int flags;
    private int exptime;
    private int valueLength;
    private long number;
    private int rkey;
    private long address;
    private long length;
    private long opaque;
    private boolean valueFollows;
    private boolean part;
    private boolean continued;

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

    /** The array that holds the keys. */
    public byte[] bytes() {
        return words.bytes();
    }

    /** Number of keys. */
    public int keyCount() {
        return keys;
    }

    /**
     * Where a key starts in {@link #bytes()}.
     *
     * @param index 0 to {@link #keyCount()} - 1
     */
    public int keyOffset(int index) {
        return words.start(key + index);
    }

    /**
     * Bytes of a key, 1 to 250.
     *
     * @param index 0 to {@link #keyCount()} - 1
     */
    public int keyLength(int index) {
        return words.length(key + index);
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
     * True if a value of {@link #valueLength()} bytes follows, be the request valid or not. Of one that is refused it has to be
     * skipped: memcached does so for ms, but takes the value of a set that it refuses for commands, which lets whoever may
     * choose a value choose commands.
     */
    public boolean valueFollows() {
        return valueFollows;
    }

    /** The cas number of cas, the delta of incr and decr, the level of verbosity, the megabytes of cache_memlimit; unsigned. */
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

    /** Number of words behind the command. */
    public int argumentCount() {
        return words.count() - 1;
    }

    /**
     * Parses a line; afterwards this object is about it.
     *
     * @param source array that holds the line from its start; it is kept, not copied
     * @param lineLength bytes of the line without its end
     * @param partial true if it is a get that goes on in the next line
     * @param continuing true if it goes on with a get, and may have no further key
     */
    void parse(byte[] source, int lineLength, boolean partial, boolean continuing) {
        part = partial;
        continued = continuing;
        error = NO_ERROR;
        noreply = false;
        valueFollows = false;
        key = 1;
        keys = 1;
        words.split(source, lineLength);
        command = words.count() == 0 || words.length(0) < 2 ? invalid(TextProtocol.ERROR) : recognise();
    }

    private TextCommand recognise() {
        if (words.length(0) == 2 && words.first(0) == 'm') {
            return recogniseMeta();
        }
        return switch (words.first(0)) {
            case 'g' -> recogniseGet();
            case 's' -> recogniseS();
            case 'a' ->
                words.is(0, "add")
                        ? store(TextCommand.ADD)
                        : words.is(0, "append") ? store(TextCommand.APPEND) : unknown();
            case 'c' ->
                words.is(0, "cas") ? store(TextCommand.CAS) : words.is(0, "cache_memlimit") ? memoryLimit() : unknown();
            case 'i' -> words.is(0, "incr") ? arithmetic(TextCommand.INCR) : unknown();
            case 'd' -> recogniseD();
            case 't' -> words.is(0, "touch") ? touch() : unknown();
            case 'r' -> recogniseR();
            case 'p' -> words.is(0, "prepend") ? store(TextCommand.PREPEND) : unknown();
            case 'f' -> words.is(0, "flush_all") ? flushAll() : unknown();
            case 'v' ->
                words.is(0, "version") ? TextCommand.VERSION : words.is(0, "verbosity") ? verbosity() : unknown();
            case 'q' -> words.is(0, "quit") ? TextCommand.QUIT : unknown();
            case 'l' -> words.is(0, "lru_crawler") ? administer(TextCommand.LRU_CRAWLER, 1) : unknown();
            case 'w' -> words.is(0, "watch") ? administer(TextCommand.WATCH, 0) : unknown();
            default -> unknown();
        };
    }

    private TextCommand recogniseGet() {
        if (words.is(0, "get")) {
            return get(TextCommand.GET, 1);
        }
        if (words.is(0, "gets")) {
            return get(TextCommand.GETS, 1);
        }
        if (words.is(0, "gat")) {
            return getAndTouch(TextCommand.GAT);
        }
        return words.is(0, "gats") ? getAndTouch(TextCommand.GATS) : unknown();
    }

    private TextCommand recogniseS() {
        if (words.is(0, "set")) {
            return store(TextCommand.SET);
        }
        if (words.is(0, "stats")) {
            return TextCommand.STATS;
        }
        if (words.is(0, "slabs")) {
            return administer(TextCommand.SLABS, 2);
        }
        return words.is(0, "shutdown") ? TextCommand.SHUTDOWN : unknown();
    }

    private TextCommand recogniseR() {
        if (words.is(0, "replace")) {
            return store(TextCommand.REPLACE);
        }
        if (words.is(0, "rget")) {
            return rget();
        }
        return words.is(0, "rdma") ? rdma() : unknown();
    }

    private TextCommand recogniseD() {
        if (words.is(0, "delete")) {
            return delete();
        }
        if (words.is(0, "decr")) {
            return arithmetic(TextCommand.DECR);
        }
        return words.is(0, "debugtime") ? administer(TextCommand.DEBUGTIME, 1) : unknown();
    }

    private TextCommand recogniseMeta() {
        return switch (words.bytes()[words.start(0) + 1]) {
            case 'n' -> TextCommand.META_NOOP;
            case 'g' -> meta(TextCommand.META_GET);
            case 's' -> metaSet();
            case 'd' -> meta(TextCommand.META_DELETE);
            case 'a' -> meta(TextCommand.META_ARITHMETIC);
            case 'e' -> meta(TextCommand.META_DEBUG);
            default -> unknown();
        };
    }

    private TextCommand unknown() {
        return words.startsWith(words.count() - 1, "HTTP/") ? TextCommand.CLOSE : invalid(TextProtocol.ERROR);
    }

    /** Words whose bounds it has room for. */
    int keptWords() {
        return words.capacity();
    }

    /** The request is done with. */
    void release() {
        words.release();
    }

    private TextCommand get(TextCommand which, int firstKey) {
        if (words.count() < 2 && !continued) {
            return invalid(TextProtocol.ERROR);
        }
        key = firstKey;
        keys = words.count() - firstKey;
        for (int i = firstKey; i < words.count(); i++) {
            if (words.length(i) > TextProtocol.MAX_KEY_LENGTH) {
                return invalid(TextProtocol.BAD_FORMAT);
            }
        }
        return which;
    }

    private TextCommand getAndTouch(TextCommand which) {
        if (words.count() < 2) {
            return invalid(TextProtocol.ERROR);
        }
        return takeExptime(1) ? get(which, 2) : invalid(TextProtocol.BAD_EXPTIME);
    }

    private TextCommand store(TextCommand which) {
        int fixed = which == TextCommand.CAS ? 6 : 5;
        if (words.count() != fixed && words.count() != fixed + 1) {
            return invalid(TextProtocol.ERROR);
        }
        takeNoreply();
        valueFollows = takeValueLength(4); // whatever else is wrong: else the value would be taken for commands
        if (!valueFollows
                || words.length(1) > TextProtocol.MAX_KEY_LENGTH
                || !words.isUnsigned64(2, 0)
                || !takeExptime(3)
                || (which == TextCommand.CAS && !words.isUnsigned64(5, 0))) {
            return invalid(TextProtocol.BAD_FORMAT);
        }
        flags = (int) words.number(2, 0);
        number = which == TextCommand.CAS ? words.number(5, 0) : 0;
        return which;
    }

    private TextCommand delete() {
        if (words.count() < 2 || words.count() > 4) {
            return invalid(TextProtocol.ERROR);
        }
        if (words.count() > 2) {
            boolean zero = words.is(2, "0");
            takeNoreply();
            if (!(words.count() == 3 && (zero || noreply)) && !(words.count() == 4 && zero && noreply)) {
                return invalid(TextProtocol.BAD_DELETE);
            }
        }
        return words.length(1) > TextProtocol.MAX_KEY_LENGTH ? invalid(TextProtocol.BAD_FORMAT) : TextCommand.DELETE;
    }

    private TextCommand arithmetic(TextCommand which) {
        if (words.count() != 3 && words.count() != 4) {
            return invalid(TextProtocol.ERROR);
        }
        takeNoreply();
        if (words.length(1) > TextProtocol.MAX_KEY_LENGTH) {
            return invalid(TextProtocol.BAD_FORMAT);
        }
        if (!words.isUnsigned64(2, 0)) {
            return invalid(TextProtocol.BAD_DELTA);
        }
        number = words.number(2, 0);
        return which;
    }

    private TextCommand touch() {
        if (words.count() != 3 && words.count() != 4) {
            return invalid(TextProtocol.ERROR);
        }
        takeNoreply();
        if (words.length(1) > TextProtocol.MAX_KEY_LENGTH) {
            return invalid(TextProtocol.BAD_FORMAT);
        }
        return takeExptime(2) ? TextCommand.TOUCH : invalid(TextProtocol.BAD_EXPTIME);
    }

    private TextCommand flushAll() {
        if (words.count() > 3) {
            return invalid(TextProtocol.ERROR);
        }
        takeNoreply();
        exptime = 0;
        boolean delayed = words.count() != (noreply ? 2 : 1);
        return !delayed || takeExptime(1) ? TextCommand.FLUSH_ALL : invalid(TextProtocol.BAD_EXPTIME);
    }

    private TextCommand verbosity() {
        if (words.count() < 2) {
            return invalid(TextProtocol.ERROR);
        }
        takeNoreply();
        return takeUnsigned32(1) ? TextCommand.VERBOSITY : invalid(TextProtocol.BAD_FORMAT);
    }

    private TextCommand memoryLimit() {
        if (words.count() < 2) {
            return invalid(TextProtocol.ERROR);
        }
        takeNoreply();
        return takeUnsigned32(1) ? TextCommand.CACHE_MEMLIMIT : invalid(TextProtocol.ERROR);
    }

    private TextCommand administer(TextCommand which, int leastArguments) {
        if (words.count() <= leastArguments) {
            return invalid(TextProtocol.ERROR);
        }
        takeNoreply();
        return which;
    }

    private TextCommand meta(TextCommand which) {
        return checkMeta(which, 2) ? which : TextCommand.INVALID;
    }

    private TextCommand metaSet() {
        if (words.count() == 2) {
            return invalid(TextProtocol.BAD_FORMAT); // a key but no length
        }
        if (words.count() > 2) {
            valueFollows = takeValueLength(2); // whatever else is wrong
            if (!valueFollows || words.length(1) > TextProtocol.MAX_KEY_LENGTH) {
                return invalid(TextProtocol.BAD_FORMAT);
            }
        }
        return checkMeta(TextCommand.META_SET, 3) ? TextCommand.META_SET : TextCommand.INVALID;
    }

    private boolean checkMeta(TextCommand which, int firstFlag) {
        if (words.count() < 2) {
            invalid(which == TextCommand.META_DEBUG ? TextProtocol.BAD_FORMAT : TextProtocol.ERROR);
            return false;
        }
        if (words.length(1) > TextProtocol.MAX_KEY_LENGTH) {
            invalid(TextProtocol.BAD_FORMAT);
            return false;
        }
        if (words.count() > MAX_META_WORDS) {
            invalid(TextProtocol.TOO_MANY_FLAGS);
            return false;
        }
        byte[] fault = meta.parse(firstFlag, key);
        if (fault.length > 0) {
            boolean plain = which == TextCommand.META_DELETE || which == TextCommand.META_ARITHMETIC;
            invalid(plain && fault != MetaFlags.LONG_OPAQUE ? TextProtocol.BAD_META_FLAG : fault);
            return false;
        }
        return true;
    }

    private TextCommand rdma() {
        if (words.count() == 3 && words.is(1, "hello")) {
            return TextCommand.RDMA_HELLO;
        }
        return words.count() == 2 && words.is(1, "arenas") ? TextCommand.RDMA_ARENAS : invalid(TextProtocol.ERROR);
    }

    private TextCommand rget() {
        if (words.count() != 6) {
            return invalid(TextProtocol.ERROR);
        }
        if (words.length(1) > TextProtocol.MAX_KEY_LENGTH
                || !words.isNumber(2, 0, MAX_RKEY)
                || !words.isUnsigned64(3, 0)
                || !words.isNumber(4, 0, Integer.MAX_VALUE)
                || !words.isUnsigned64(5, 0)) {
            return invalid(TextProtocol.BAD_FORMAT);
        }
        rkey = (int) words.number(2, 0);
        address = words.number(3, 0);
        length = words.number(4, 0);
        opaque = words.number(5, 0);
        return TextCommand.RGET;
    }

    private void takeNoreply() {
        noreply = words.is(words.count() - 1, "noreply");
    }

    private boolean takeExptime(int word) {
        if (!words.isSigned64(word, 0)) {
            return false;
        }
        exptime = (int) words.number(word, 0); // of more than 32 bits the lower ones, as memcached takes it
        return true;
    }

    private boolean takeUnsigned32(int word) {
        if (!words.isUnsigned64(word, 0)) {
            return false;
        }
        number = Integer.toUnsignedLong((int) words.number(word, 0));
        return true;
    }

    /** False if nobody can tell how long the value is; then it is taken for commands, as memcached does. */
    private boolean takeValueLength(int word) {
        valueLength = words.isSigned64(word, 0) ? (int) words.number(word, 0) : -1;
        return valueLength >= 0 && valueLength <= TextProtocol.MAX_VALUE_LENGTH;
    }

    private TextCommand invalid(byte[] answer) {
        error = answer;
        return TextCommand.INVALID;
    }
}
