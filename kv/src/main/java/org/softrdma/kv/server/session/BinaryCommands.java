package org.softrdma.kv.server.session;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.binary.AnswerFrame;
import org.softrdma.kv.binary.BinaryOperation;
import org.softrdma.kv.binary.BinaryRequest;
import org.softrdma.kv.binary.Status;

/**
 * Carries out the requests of a connection that speaks the binary protocol, or refuses them, in memcached's order: a
 * frame that contradicts itself, a client that is not logged in, a frame that is none of its operation. Owned by the
 * thread of the connection.
 */
final class BinaryCommands {
    private static final byte[] NOTHING = {};
    private static final byte[] SWITCHED_OFF = ascii("The binary protocol is switched off; use the text protocol");

    private final KvService service;
    private final Conversation connection;
    private final BinaryRequest request;
    private final AdminCommands admin;
    private final BinaryItems items;
    private final BinaryStatistics statistics;
    private final AnswerFrame frame = new AnswerFrame();
    private final byte[] version;

    /** Null if nobody needs to log in. */
    private final @Nullable SaslLogin login;

    /**
     * The commands of a new connection.
     *
     * @param request the one that is to be carried out, always the same object
     */
    BinaryCommands(ServerParts server, Conversation connection, BinaryRequest request) {
        this.service = server.service();
        this.connection = connection;
        this.request = request;
        this.admin = new AdminCommands(server, connection);
        this.items = new BinaryItems(service, connection, request);
        this.statistics = new BinaryStatistics(server, connection);
        this.version = ascii(service.settings().version());
        Predicate<byte[]> users = service.settings().rules().login();
        this.login = users == null ? null : new SaslLogin(users, service.counters(), connection);
    }

    void execute() {
        if (request.fault() == BinaryRequest.Fault.LENGTHS) {
            refuseAndClose(Status.UNKNOWN_COMMAND);
        } else if (service.settings().rules().protocol() == ClientRules.Protocol.ASCII) {
            connection.reply(frame.refuse(request, Status.NOT_SUPPORTED, SWITCHED_OFF));
            connection.closeAfterOutput();
        } else if (login != null && !login.allows(request.operation())) {
            refuseAndClose(Status.AUTHENTICATION_FAILED);
        } else if (request.fault() == BinaryRequest.Fault.SHAPE) {
            refuseAndClose(Status.INVALID);
        } else {
            executeCommand();
        }
    }

    private void executeCommand() {
        switch (request.operation()) {
            case GET, GETK, TOUCH, GAT, GATK -> items.get();
            case SET, ADD, REPLACE, APPEND, PREPEND -> items.store();
            case DELETE -> items.delete();
            case INCREMENT, DECREMENT -> items.incrementOrDecrement();
            case FLUSH -> flush();
            case NOOP -> connection.reply(frame.done(request, 0));
            case VERSION -> connection.reply(frame.words(request, version));
            case VERBOSITY -> {
                service.verbosity(request.level());
                connection.reply(frame.done(request, 0));
            }
            case STAT -> statistics.answer(request);
            case QUIT -> {
                if (!request.isQuiet()) {
                    connection.reply(frame.done(request, 0));
                }
                connection.closeAfterOutput();
            }
            case SASL_LIST, SASL_AUTH, SASL_STEP -> authenticate();
            case UNKNOWN -> connection.reply(frame.refuse(request, Status.UNKNOWN_COMMAND));
        }
    }

    private void authenticate() {
        if (login == null) {
            connection.reply(frame.refuse(request, Status.UNKNOWN_COMMAND));
        } else if (request.operation() == BinaryOperation.SASL_LIST) {
            login.list(request);
        } else {
            login.begin(request);
        }
    }

    private void flush() {
        if (!service.settings().rules().flushAllowed()) {
            connection.reply(frame.refuse(request, Status.AUTHENTICATION_FAILED)); // memcached's way of saying so
            return;
        }
        AnswerFrame done = frame.done(request, 0);
        admin.flushAll(request.exptime(), request.isQuiet() ? NOTHING : Arrays.copyOf(done.bytes(), done.length()));
    }

    private void refuseAndClose(Status status) {
        connection.reply(frame.refuse(request, status));
        connection.closeAfterOutput();
    }

    /** The value behind the last request has come, or was skipped. */
    void endValue() {
        if (request.operation() == BinaryOperation.SASL_AUTH || request.operation() == BinaryOperation.SASL_STEP) {
            if (login != null) {
                login.end(request);
            }
        } else {
            items.endValue();
        }
    }

    /** All that has come is used up, and the value is not whole. */
    void awaitValue() {
        items.awaitValue();
    }

    /** Gives back what the connection holds. */
    void release() {
        items.release();
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
