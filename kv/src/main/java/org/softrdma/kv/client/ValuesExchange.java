package org.softrdma.kv.client;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.softrdma.kv.memcached.TextProtocol;

/**
 * A retrieval over the memcached connection: sends a command like {@code gets} with keys, takes lines
 * {@code VALUE key flags length cas} with their values up to END. Keys without a value are left out of the answer,
 * the others keep their order.
 */
final class ValuesExchange extends Exchange {
    private static final int WORDS = 5;

    private final KvConnection connection;
    private final Pending request;
    private final String command;
    private final List<byte[]> keys;
    private final Consumer<List<Optional<KvItem>>> result;
    private final List<Optional<KvItem>> items;
    private int next;
    private int flags;
    private int valueLength;
    private long cas;

    private ValuesExchange(
            KvConnection connection,
            Pending request,
            String command,
            List<byte[]> keys,
            Consumer<List<Optional<KvItem>>> result) {
        super(request);
        this.connection = connection;
        this.request = request;
        this.command = command;
        this.keys = keys;
        this.result = result;
        this.items = new ArrayList<>(Collections.nCopies(keys.size(), Optional.empty()));
    }

    /**
     * Sends the command.
     *
     * @param request fails if the server refuses
     * @param command its first words
     * @param keys what follows them
     * @param result told an item or none for each key
     */
    static void send(
            KvConnection connection,
            Pending request,
            String command,
            List<byte[]> keys,
            Consumer<List<Optional<KvItem>>> result) {
        MemcachedLink link = connection.link();
        link.write(command);
        for (byte[] key : keys) {
            link.write(MemcachedLink.BLANK);
            link.write(key);
        }
        link.write(TextProtocol.CRLF);
        connection.counters().tcpGets += keys.size();
        connection.expect(new ValuesExchange(connection, request, command, keys, result));
    }

    @Override
    Next line(String line) {
        if (line.equals("END")) {
            result.accept(Collections.unmodifiableList(items));
            return Next.NOTHING;
        }
        if (isError(line)) {
            request.fail(new KvRefusedException(connection.name() + " refused " + command + ": " + line));
            return Next.NOTHING;
        }
        String[] words = line.split(" ", -1);
        if (words.length != WORDS || !words[0].equals("VALUE") || !isNextKey(words[1])) {
            throw connection.unexpected(line, command);
        }
        try {
            flags = Integer.parseUnsignedInt(words[2]);
            valueLength = Integer.parseInt(words[3]);
            cas = Long.parseUnsignedLong(words[4]);
        } catch (NumberFormatException e) {
            throw connection.unexpected(line, command);
        }
        if (valueLength < 0 || valueLength > MAX_VALUE_LENGTH) {
            throw connection.unexpected(line, command); // never allocate by a length beyond what a server can have
        }
        return Next.VALUE;
    }

    /** The longest value of any memcached, whose -I goes up to this. */
    static final int MAX_VALUE_LENGTH = 1 << 30;

    @Override
    int valueLength() {
        return valueLength;
    }

    @Override
    void value(byte[] value) {
        items.set(next, Optional.of(new KvItem(value, flags, cas)));
        next++;
    }

    /** Goes on to the key of a value; false if it is none of the keys that are left. */
    private boolean isNextKey(String word) {
        byte[] key = new byte[word.length()];
        for (int i = 0; i < key.length; i++) {
            key[i] = (byte) word.charAt(i);
        }
        while (next < keys.size() && !Arrays.equals(keys.get(next), key)) {
            next++;
        }
        return next < keys.size();
    }
}
