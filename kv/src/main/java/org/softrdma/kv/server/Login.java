package org.softrdma.kv.server;

import java.lang.foreign.MemorySegment;
import org.softrdma.kv.memcached.TextCommand;
import org.softrdma.kv.memcached.TextProtocol;
import org.softrdma.kv.memcached.TextRequest;

/**
 * A connection of which nobody knows yet whose it is: memcached's ASCII authentication. The client sends a set of any key
 * whose value is {@code user password}; everything else is refused. Owned by the thread of the connection.
 */
final class Login {
    private static final int LONGEST = 1024;

    private final Passwords passwords;
    private final ServerCounters counters;
    private final Conversation connection;
    private byte[] attempt = {};

    private boolean attempting;

    /** The attempt is too long to be right. */
    private boolean skipping;

    Login(Passwords passwords, ServerCounters counters, Conversation connection) {
        this.passwords = passwords;
        this.counters = counters;
        this.connection = connection;
    }

    void execute(TextRequest request) {
        attempting = request.command() == TextCommand.SET;
        if (!attempting) {
            if (request.valueFollows()) {
                connection.expectValue(null, 0, request.valueLength());
            }
            connection.reply(TextProtocol.UNAUTHENTICATED);
            return;
        }
        skipping = request.valueLength() > LONGEST;
        attempt = new byte[skipping ? 0 : request.valueLength()];
        connection.expectValue(skipping ? null : MemorySegment.ofArray(attempt), 0, request.valueLength());
    }

    /** True if the client may go on. */
    boolean endValue(boolean terminated) {
        if (!attempting) {
            return false; // it was skipped and is answered
        }
        if (!terminated) {
            connection.reply(TextProtocol.BAD_DATA_CHUNK);
            return false;
        }
        counters.authentications.increment();
        boolean allowed = !skipping && passwords.allow(attempt);
        attempt = new byte[0];
        if (!allowed) {
            counters.failedAuthentications.increment();
        }
        connection.reply(allowed ? TextProtocol.STORED : TextProtocol.AUTHENTICATION_FAILURE);
        return allowed;
    }
}
