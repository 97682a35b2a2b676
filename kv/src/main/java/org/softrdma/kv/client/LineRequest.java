package org.softrdma.kv.client;

import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.memcached.TextProtocol;

/**
 * A request that memcached answers with one line. While such a request for a key is outstanding, later gets of the key
 * are sent to the server behind it, so that they see its effect.
 *
 * @param <T> the result
 */
public final class LineRequest<T> extends KvRequest<T> {
    private static final String STORED_AT = "STORED ";

    private final String command;
    private final byte @Nullable [] key;
    private final String arguments;
    private final byte @Nullable [] value;
    private final boolean forgets;
    private final Function<String, @Nullable T> answer;

    /**
     * Makes one.
     *
     * @param command the first word
     * @param key the key that follows it
     * @param arguments what follows the key, from its blank on
     * @param value sent behind the line
     * @param forgets true if the place of the value changes and the old one does not lead to the new one for sure
     * @param answer what a line means; null for a line that is no answer
     */
    LineRequest(
            String command,
            byte @Nullable [] key,
            String arguments,
            byte @Nullable [] value,
            boolean forgets,
            Function<String, @Nullable T> answer) {
        this.command = command;
        this.key = key;
        this.arguments = arguments;
        this.value = value;
        this.forgets = forgets;
        this.answer = answer;
    }

    /**
     * The same request without an answer: it is done once it is sent, and its outcome is never known. If the server
     * reports an error all the same, memcached cannot say for which request, and the client closes the connection.
     *
     * @return to be used instead of this one; its result is true
     */
    public KvRequest<Boolean> noreply() {
        if (command.equals("version")) {
            throw new IllegalArgumentException("version without an answer makes no sense");
        }
        return new NoreplyRequest(this);
    }

    @Override
    public List<byte[]> keys() {
        return key == null ? List.of() : List.of(key);
    }

    @Override
    void send(KvConnection connection) {
        long hash = key == null ? ItemPlaces.ALL_KEYS : connection.places().hash(key);
        boolean changes = key != null || forgets;
        if (forgets) {
            connection.places().forget(hash);
        }
        if (changes) {
            connection.places().beginWrite(hash);
        }
        write(connection, "");
        connection.expect(new Exchange(this) {
            @Override
            Next line(String line) {
                String plain = line;
                if (changes) {
                    connection.places().endWrite(hash);
                    if (value != null && line.startsWith(STORED_AT)) {
                        if (connection.reader() != null) {
                            connection.places().learn(hash, line.substring(STORED_AT.length()));
                        }
                        plain = STORED_AT.strip();
                    }
                }
                answered(connection, plain);
                return Next.NOTHING;
            }
        });
    }

    /** Sends it without waiting for an answer. */
    void sendNoreply(KvConnection connection) {
        long hash = key == null ? ItemPlaces.ALL_KEYS : connection.places().hash(key);
        connection.places().forget(hash);
        write(connection, " noreply");
        connection.sentNoreply(hash);
    }

    private void answered(KvConnection connection, String line) {
        T meaning = answer.apply(line);
        if (meaning != null) {
            complete(meaning);
            return;
        }
        if (!Exchange.isError(line)) {
            throw connection.unexpected(line, command);
        }
        fail(new KvRefusedException(connection.name() + " refused " + command + ": " + line));
        if (value != null) {
            // The value may have been taken for commands, so that what follows cannot be told apart.
            throw new KvException(connection.name() + " refused " + command + ": " + line);
        }
    }

    private void write(KvConnection connection, String last) {
        MemcachedLink link = connection.link();
        link.write(command);
        if (key != null) {
            link.write(MemcachedLink.BLANK);
            link.write(key);
        }
        link.write(arguments + last);
        link.write(TextProtocol.CRLF);
        if (value != null) {
            link.write(value);
            link.write(TextProtocol.CRLF);
        }
    }
}
