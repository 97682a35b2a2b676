package org.softrdma.kv.server.session;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.Predicate;
import org.softrdma.kv.binary.AnswerFrame;
import org.softrdma.kv.binary.BinaryOperation;
import org.softrdma.kv.binary.BinaryRequest;
import org.softrdma.kv.binary.Status;
import org.softrdma.kv.item.KeySlice;

/**
 * Login of a connection that speaks the binary protocol: SASL with the mechanism PLAIN (RFC 4616), whose message is a
 * name to act as (empty, or the user's), the user and the password, with a zero byte in between. Owned by the thread
 * of the connection.
 */
final class SaslLogin {
    private static final int LONGEST_MECHANISM = 32;
    private static final int LONGEST_MESSAGE = 1024;
    private static final byte SEPARATOR = 0;
    private static final byte[] MECHANISM = "PLAIN".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] AUTHENTICATED = "Authenticated".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] NOTHING = {};

    private final Predicate<byte[]> users;
    private final ServerCounters counters;
    private final Conversation connection;
    private final AnswerFrame frame = new AnswerFrame();
    private boolean loggedIn;

    /** The client has chosen PLAIN and sent no message yet. */
    private boolean begun;

    /** A message is on its way that is looked at. */
    private boolean attempting;

    private byte[] message = NOTHING;

    SaslLogin(Predicate<byte[]> users, ServerCounters counters, Conversation connection) {
        this.users = users;
        this.counters = counters;
        this.connection = connection;
    }

    /** True if a client may ask for this now. */
    boolean allows(BinaryOperation operation) {
        return loggedIn
                || switch (operation) {
                    case SASL_LIST, SASL_AUTH, SASL_STEP, VERSION -> true;
                    default -> false;
                };
    }

    /** Names the mechanisms. */
    void list(BinaryRequest request) {
        connection.reply(frame.words(request, MECHANISM));
    }

    /** Says where the message behind an AUTH or STEP goes. */
    void begin(BinaryRequest request) {
        attempting = request.key().length() <= LONGEST_MECHANISM;
        if (!attempting) {
            connection.reply(frame.refuse(request, Status.INVALID));
            return;
        }
        if (request.valueLength() > LONGEST_MESSAGE) {
            message = NOTHING; // it is skipped, and wrong
            return;
        }
        message = new byte[(int) request.valueLength()];
        connection.expectValue(ByteBuffer.wrap(message)::put, message.length);
    }

    /** The message has come, or was skipped. */
    void end(BinaryRequest request) {
        if (!attempting) {
            return; // it is answered
        }
        attempting = false;
        KeySlice mechanism = request.key();
        boolean plain = Arrays.equals(
                mechanism.bytes(),
                mechanism.offset(),
                mechanism.offset() + mechanism.length(),
                MECHANISM,
                0,
                MECHANISM.length);
        boolean first = request.operation() == BinaryOperation.SASL_AUTH;
        if (plain && first && request.valueLength() == 0) {
            begun = true;
            connection.reply(frame.refuse(request, Status.AUTHENTICATION_CONTINUES));
            return;
        }
        loggedIn = plain && (first || begun) && allow();
        begun = false;
        message = NOTHING;
        counters.authentications.increment();
        if (loggedIn) {
            connection.reply(frame.words(request, AUTHENTICATED));
        } else {
            counters.failedAuthentications.increment();
            connection.loginRefused();
            connection.reply(frame.refuse(request, Status.AUTHENTICATION_FAILED));
        }
    }

    private boolean allow() {
        int user = indexOfSeparator(0) + 1;
        int password = indexOfSeparator(user) + 1;
        if (user == 0 || password == 0) {
            return false;
        }
        boolean asSelf = user == 1 || Arrays.equals(message, 0, user - 1, message, user, password - 1);
        byte[] login = Arrays.copyOfRange(message, user, message.length);
        login[password - 1 - user] = ' ';
        return asSelf && users.test(login);
    }

    /** Where the next separator is; -1 if there is none. */
    private int indexOfSeparator(int from) {
        int at = from;
        while (at < message.length && message[at] != SEPARATOR) {
            at++;
        }
        return at < message.length ? at : -1;
    }
}
