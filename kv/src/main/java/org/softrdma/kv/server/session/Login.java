package org.softrdma.kv.server.session;

import java.nio.ByteBuffer;
import java.util.function.Predicate;
import org.softrdma.kv.memcached.TextCommand;
import org.softrdma.kv.memcached.TextProtocol;
import org.softrdma.kv.memcached.TextRequest;

/**
 * A connection whose user is not known yet: memcached's ASCII authentication. The client sends a set of any key whose
 * value is {@code user password}; everything else is refused. Owned by the thread of the connection.
 */
final class Login {
    private static final int LONGEST = 1024;

    private final Predicate<byte[]> users;
    private final ServerCounters counters;
    private final Conversation connection;
    private byte[] attempt = {};

    private boolean attempting;

    /** The attempt is too long to be right. */
    private boolean skipping;

    Login(Predicate<byte[]> users, ServerCounters counters, Conversation connection) {
        this.users = users;
        this.counters = counters;
        this.connection = connection;
    }

    void execute(TextRequest request) {
        attempting = request.command() == TextCommand.SET;
        if (!attempting) {
            if (request.valueFollows()) {
                connection.expectValue(null, request.valueLength());
            }
            connection.reply(TextProtocol.UNAUTHENTICATED);
            return;
        }
        skipping = request.valueLength() > LONGEST;
        attempt = new byte[skipping ? 0 : request.valueLength()];
        connection.expectValue(skipping ? null : ByteBuffer.wrap(attempt)::put, request.valueLength());
    }

    /** True if the client is logged in now. */
    boolean endValue(boolean terminated) {
        if (!attempting) {
            return false; // it was skipped and is answered
        }
        if (!terminated) {
            connection.reply(TextProtocol.BAD_DATA_CHUNK);
            return false;
        }
        counters.authentications.increment();
        boolean allowed = !skipping && users.test(attempt);
        attempt = new byte[0];
        if (!allowed) {
            counters.failedAuthentications.increment();
            connection.loginRefused();
        }
        connection.reply(allowed ? TextProtocol.STORED : TextProtocol.AUTHENTICATION_FAILURE);
        return allowed;
    }
}
