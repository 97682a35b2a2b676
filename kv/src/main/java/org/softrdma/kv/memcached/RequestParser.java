package org.softrdma.kv.memcached;

/**
 * Takes command lines apart into a {@link TextRequest}. The order of the checks is memcached's, so that a line with
 * two faults gets the answer that memcached gives. Owned by the decoder.
 */
final class RequestParser {
    private static final int MAX_META_WORDS = 19;
    private static final long MAX_RKEY = 0xFFFF_FFFFL;

    private final TextRequest request;
    private final LineWords words;
    private final MetaFlags meta;

    /** The line goes on with a get. */
    private boolean continued;

    RequestParser(TextRequest request) {
        this.request = request;
        this.words = request.words;
        this.meta = request.meta;
    }

    /**
     * Parses a line; afterwards the request is about it.
     *
     * @param source array that holds the line from its start; it is kept, not copied
     * @param lineLength bytes of the line without its end
     * @param partial true if it is a get that goes on in the next line
     * @param continuing true if it goes on with a get, and may have no further key
     */
    void parse(byte[] source, int lineLength, boolean partial, boolean continuing) {
        continued = continuing;
        request.part = partial;
        request.error = TextRequest.NO_ERROR;
        request.noreply = false;
        request.valueFollows = false;
        request.key = 1;
        request.keys = 1;
        words.split(source, lineLength);
        request.command = words.count() == 0 || words.length(0) < 2
                ? invalid(TextProtocol.ERROR)
                : arguments(CommandWord.of(words));
    }

    /** Takes what follows the command; INVALID if that is not what it should be. */
    private TextCommand arguments(TextCommand which) {
        return switch (which) {
            case GET, GETS -> get(which, 1);
            case GAT, GATS -> getAndTouch(which);
            case SET, ADD, REPLACE, APPEND, PREPEND, CAS -> store(which);
            case DELETE -> delete();
            case INCR, DECR -> arithmetic(which);
            case TOUCH -> touch();
            case FLUSH_ALL -> flushAll();
            case VERBOSITY -> verbosity();
            case CACHE_MEMLIMIT -> memoryLimit();
            case WATCH -> administer(which, 0);
            case LRU_CRAWLER -> which;
            case LRU, EXTSTORE, DEBUGTIME -> administer(which, 1);
            case SLABS -> administer(which, 2);
            case META_GET, META_DELETE, META_ARITHMETIC -> meta(which);
            case META_DEBUG -> metaDebug();
            case META_SET -> metaSet();
            case RDMA_HELLO -> words.count() == 3 ? which : invalid(TextProtocol.ERROR);
            case RDMA_ARENAS -> words.count() == 2 && words.is(1, "arenas") ? which : invalid(TextProtocol.ERROR);
            case RGET -> rget();
            case VERSION, REFRESH_CERTS, STATS, SHUTDOWN, QUIT, META_NOOP, CLOSE -> which;
            case INVALID -> invalid(TextProtocol.ERROR);
        };
    }

    private TextCommand get(TextCommand which, int firstKey) {
        if (words.count() < 2 && !continued) {
            return invalid(TextProtocol.ERROR);
        }
        request.key = firstKey;
        request.keys = words.count() - firstKey;
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
        request.valueFollows = takeValueLength(4); // whatever else is wrong, or the value is taken for commands
        if (!request.valueFollows
                || words.length(1) > TextProtocol.MAX_KEY_LENGTH
                || !words.isUnsigned64(2, 0)
                || !takeExptime(3)
                || (which == TextCommand.CAS && !words.isUnsigned64(5, 0))) {
            return invalid(TextProtocol.BAD_FORMAT);
        }
        request.flags = (int) words.number(2, 0);
        request.number = which == TextCommand.CAS ? words.number(5, 0) : 0;
        return which;
    }

    private TextCommand delete() {
        if (words.count() < 2 || words.count() > 4) {
            return invalid(TextProtocol.ERROR);
        }
        if (words.count() > 2) {
            boolean zero = words.is(2, "0");
            takeNoreply();
            if (!(words.count() == 3 && (zero || request.noreply))
                    && !(words.count() == 4 && zero && request.noreply)) {
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
        request.number = words.number(2, 0);
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
        request.exptime = 0;
        boolean delayed = words.count() != (request.noreply ? 2 : 1);
        return !delayed || takeExptime(1) ? TextCommand.FLUSH_ALL : invalid(TextProtocol.BAD_EXPTIME);
    }

    private TextCommand verbosity() {
        if (words.count() != 2 && words.count() != 3) {
            return invalid(TextProtocol.ERROR);
        }
        takeNoreply();
        return takeUnsigned32(1) ? TextCommand.VERBOSITY : invalid(TextProtocol.BAD_FORMAT);
    }

    private TextCommand memoryLimit() {
        if (words.count() != 2 && words.count() != 3) {
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

    /** Like memcached: a key in base 64 if the next word is b, and nothing else counts. */
    private TextCommand metaDebug() {
        if (words.count() < 2 || words.length(1) > TextProtocol.MAX_KEY_LENGTH) {
            return invalid(TextProtocol.BAD_FORMAT);
        }
        boolean decoded = words.count() == 2 || !words.is(2, "b") || meta.decodeKey(1);
        return decoded ? TextCommand.META_DEBUG : invalid(TextProtocol.BAD_FORMAT);
    }

    private TextCommand metaSet() {
        if (words.count() == 2) {
            return invalid(TextProtocol.BAD_FORMAT); // a key but no length
        }
        if (words.count() > 2) {
            request.valueFollows = takeValueLength(2); // whatever else is wrong
            boolean tooMany = words.count() > MAX_META_WORDS; // and is told of before its length
            if ((!request.valueFollows && !tooMany) || words.length(1) > TextProtocol.MAX_KEY_LENGTH) {
                return invalid(TextProtocol.BAD_FORMAT);
            }
        }
        return checkMeta(TextCommand.META_SET, 3) ? TextCommand.META_SET : TextCommand.INVALID;
    }

    private boolean checkMeta(TextCommand which, int firstFlag) {
        if (words.count() < 2) {
            invalid(TextProtocol.ERROR);
            return false;
        }
        if (words.length(1) > TextProtocol.MAX_KEY_LENGTH) {
            invalid(TextProtocol.BAD_FORMAT);
            return false;
        }
        if (words.count() > MAX_META_WORDS) {
            invalid(which == TextCommand.META_GET ? TextProtocol.TOO_MANY_GET_FLAGS : TextProtocol.TOO_MANY_FLAGS);
            return false;
        }
        byte[] fault = meta.parse(firstFlag, request.key);
        if (fault.length > 0) {
            boolean plain = which == TextCommand.META_DELETE || which == TextCommand.META_ARITHMETIC;
            invalid(plain ? TextProtocol.BAD_META_FLAG : fault);
            return false;
        }
        if (meta.hasLongOpaque() && meta.hasKnownMode(which)) { // a wrong mode is the first that memcached tells of
            invalid(MetaFlags.LONG_OPAQUE);
            return false;
        }
        return true;
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
        request.rkey = (int) words.number(2, 0);
        request.address = words.number(3, 0);
        request.length = words.number(4, 0);
        request.opaque = words.number(5, 0);
        return TextCommand.RGET;
    }

    private void takeNoreply() {
        request.noreply = words.is(words.count() - 1, "noreply");
    }

    private boolean takeExptime(int word) {
        if (!words.isSigned64(word, 0)) {
            return false;
        }
        request.exptime = (int) words.number(word, 0); // of more than 32 bits the lower ones, as memcached takes it
        return true;
    }

    private boolean takeUnsigned32(int word) {
        if (!words.isUnsigned64(word, 0)) {
            return false;
        }
        request.number = Integer.toUnsignedLong((int) words.number(word, 0));
        return true;
    }

    /** False if nobody can tell how long the value is; then it is taken for commands, as memcached does. */
    private boolean takeValueLength(int word) {
        request.valueLength = words.isSigned64(word, 0) ? (int) words.number(word, 0) : -1;
        return request.valueLength >= 0 && request.valueLength <= TextProtocol.MAX_VALUE_LENGTH;
    }

    private TextCommand invalid(byte[] answer) {
        request.error = answer;
        return TextCommand.INVALID;
    }
}
