package org.softrdma.kv.server;

import java.net.InetAddress;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.kv.message.HelloDescriptor;
import org.softrdma.kv.message.Refusal;
import org.softrdma.kv.message.TokenPlace;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * Who may have a queue pair. Where the device has private data a connect must show a token there, and is rejected before it has
 * a queue pair if it does not: nobody unknown can READ. Elsewhere the first SEND must, soon ({@link Strangers}). Whose queue
 * pairs end by wrong keys has to wait ({@link WrongKeys}). Any thread.
 */
final class Admission {
    private static final Logger LOG = LoggerFactory.getLogger(Admission.class);

    private final KvService service;
    private final TokenPlace tokenPlace;
    private final int maxPrivateData;
    private final int maxSessions;
    private final long greetingTimeoutNs;
    private final HelloTokens tokens;
    private final WrongKeys wrongKeys = new WrongKeys();
    private final Strangers strangers = new Strangers();

    Admission(KvService service, VerbsDevice device) {
        this.service = service;
        KvServerContext context = service.context();
        this.maxPrivateData = device.capabilities().maxPrivateData();
        this.tokenPlace = TokenPlace.on(maxPrivateData);
        this.maxSessions = context.maxConnections() + (tokenPlace == TokenPlace.SEND ? Strangers.MOST : 0);
        this.tokens = new HelloTokens(
                context.timeouts().helloTimeoutNs(), context.surroundings().random());
        this.greetingTimeoutNs = tokenPlace == TokenPlace.PRIVATE_DATA
                ? context.timeouts().helloTimeoutNs()
                : Strangers.timeoutNs(context.timeouts().helloTimeoutNs());
    }

    /** Where clients have to show their tokens. */
    TokenPlace tokenPlace() {
        return tokenPlace;
    }

    /** The tokens of memcached connections. */
    HelloTokens tokens() {
        return tokens;
    }

    /** Who is refused because of wrong keys. */
    WrongKeys wrongKeys() {
        return wrongKeys;
    }

    /** How long a queue pair may exist before its hello. */
    long greetingTimeoutNs() {
        return greetingTimeoutNs;
    }

    /**
     * Who may have the queue pair of a request.
     *
     * @param owner whose it is, or null if that is yet to be shown
     */
    record Ticket(@Nullable RdmaClient owner) {}

    /**
     * Decides about a request before it has a queue pair, and rejects it if nobody may have that.
     *
     * @param sessions how many there are
     * @return null if it was rejected; a ticket without an owner counts until {@link #leave}
     */
    @Nullable
    Ticket admit(ConnectionRequest request, int sessions) {
        InetAddress peer = request.remoteAddress().getAddress();
        long nowNs = service.nowNs();
        if (wrongKeys.pausedForNs(peer, nowNs) > 0) {
            return refuse(request, Refusal.PAUSED);
        }
        if (sessions >= maxSessions) {
            return refuse(request, Refusal.TOO_MANY);
        }
        if (tokenPlace == TokenPlace.SEND) {
            return strangers.enter(peer) ? new Ticket(null) : refuse(request, Refusal.TOO_MANY);
        }
        Optional<String> token = HelloDescriptor.tokenOf(request.privateData());
        if (token.isEmpty()) {
            return refuse(request, Refusal.NO_TOKEN);
        }
        RdmaClient owner = tokens.claim(token.get(), nowNs);
        return owner == null ? refuse(request, Refusal.BAD_TOKEN) : new Ticket(owner);
    }

    private @Nullable Ticket refuse(ConnectionRequest request, Refusal reason) {
        service.counters().rejectedQueuePairs.increment();
        LOG.info("a queue pair from {} was refused: {}", request.remoteAddress(), reason.text());
        request.reject(reason.privateData(maxPrivateData));
        return null;
    }

    /** A queue pair that was accepted as a stranger's shows its token; null if that is none. */
    @Nullable
    RdmaClient claim(InetAddress peer, String token) {
        RdmaClient owner = tokens.claim(token, service.nowNs());
        if (owner != null) {
            strangers.leave(peer);
        }
        return owner;
    }

    /** A stranger is gone. */
    void leave(InetAddress peer) {
        strangers.leave(peer);
    }
}
