package org.softrdma.kv.client;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.memcached.TextProtocol;
import org.softrdma.kv.message.AnswerDescriptor;

/**
 * Gets one value: by READ if its place is known, otherwise or if that fails by asking the server to write it here,
 * and if it does not fit, over the memcached connection, as always with a plain server. Holds a slot of the reader
 * from the first step to the last.
 */
final class GetRequest extends KvRequest<Optional<KvItem>> {
    /** The command of a get that needs none. */
    static final String BY_READ = "";

    private static final String OVER_TCP = "gets";
    private static final byte[] RGET = "rget ".getBytes(StandardCharsets.US_ASCII);
    private static final int MAX_RGETS = 3;

    private final byte[] key;
    private final String command;
    private @Nullable KvConnection sentOn;
    private long hash;
    private int rgets;

    /**
     * Makes one.
     *
     * @param command that gets it over the memcached connection whatever is known, or {@link #BY_READ}
     */
    GetRequest(byte[] key, String command) {
        this.key = key;
        this.command = command;
    }

    @Override
    public List<byte[]> keys() {
        return List.of(key);
    }

    @Override
    void send(KvConnection connection) {
        @Nullable RemoteReader reader = connection.reader();
        if (reader == null || !command.equals(BY_READ)) {
            getOverTcp(connection, command.equals(BY_READ) ? OVER_TCP : command);
            return;
        }
        sentOn = connection;
        hash = connection.places().hash(key);
        int slot = reader.acquire(this);
        if (slot == RemoteReader.NO_SLOT) {
            connection.park(this, () -> send(connection));
        } else if (connection.places().isBeingWritten(hash) || !reader.read(slot, hash, key)) {
            askServer(connection, reader, slot);
        }
    }

    /**
     * A READ into its slot is done.
     *
     * @param slot its number
     * @param outcome what it has brought
     */
    void read(int slot, ReadOutcome outcome) {
        KvConnection connection = connection();
        RemoteReader reader = reader(connection);
        if (isDone()) {
            reader.release(slot);
        } else if (outcome == ReadOutcome.HIT) {
            finish(reader, slot);
        } else {
            askServer(connection, reader, slot);
        }
    }

    /**
     * The server has answered an rget into its slot.
     *
     * @param slot its number
     * @param status of the {@link AnswerDescriptor}
     */
    void answered(int slot, int status) {
        KvConnection connection = connection();
        RemoteReader reader = reader(connection);
        if (isDone()) {
            reader.release(slot);
            return;
        }
        switch (status) {
            case AnswerDescriptor.NOT_FOUND -> {
                reader.release(slot);
                complete(Optional.empty());
            }
            case AnswerDescriptor.FOUND -> {
                boolean remember = !connection.places().isBeingWritten(hash);
                if (reader.checkWritten(slot, hash, key, remember) == ReadOutcome.HIT) {
                    finish(reader, slot);
                } else if (rgets < MAX_RGETS) {
                    askServer(connection, reader, slot);
                } else {
                    reader.release(slot);
                    getOverTcp(connection, OVER_TCP);
                }
            }
            case AnswerDescriptor.BUFFER_TOO_SMALL -> {
                reader.release(slot);
                getOverTcp(connection, OVER_TCP);
            }
            default -> reader.broken("the server answered an rget with status " + status);
        }
    }

    private KvConnection connection() {
        return Objects.requireNonNull(sentOn);
    }

    private static RemoteReader reader(KvConnection connection) {
        return Objects.requireNonNull(connection.reader());
    }

    private void askServer(KvConnection connection, RemoteReader reader, int slot) {
        rgets++;
        connection.counters().rgets++;
        MemcachedLink link = connection.link();
        link.write(RGET);
        link.write(key);
        link.write(reader.beginWritten(slot));
        link.write(TextProtocol.CRLF);
    }

    private void finish(RemoteReader reader, int slot) {
        KvItem item = reader.item(slot).copy();
        reader.release(slot);
        complete(Optional.of(item));
    }

    private void getOverTcp(KvConnection connection, String words) {
        ValuesExchange.send(connection, this, words, List.of(key), items -> complete(items.get(0)));
    }
}
