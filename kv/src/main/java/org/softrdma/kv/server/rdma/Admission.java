package org.softrdma.kv.server.rdma;

import java.net.InetAddress;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.kv.message.HelloDescriptor;
import org.softrdma.kv.message.Refusal;
import org.softrdma.kv.message.TokenPlace;
import org.softrdma.kv.server.host.Wildcards;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * Decides who may have a queue pair. On a device with private data a connect must show a token there, or it is
 * rejected before a queue pair exists: nobody unknown can READ. On other devices the first SEND must show it, and
 * soon ({@link Strangers}). Clients whose queue pairs used wrong keys have to wait ({@link WrongKeys}). Any thread.
 */
public final class Admission {
    private static final Logger LOG = LoggerFactory.getLogger(Admission.class);

    private final RdmaService service;
    private final TokenPlace tokenPlace;
    private final int maxPrivateData;
    private final int maxSessions;
    private final long greetingTimeoutNs;
    private final HelloTokens tokens;
    private final WrongKeys wrongKeys = new WrongKeys();
    private final Strangers strangers = new Strangers();

    public Admission(RdmaService service, VerbsDevice device) {
        this.service = service;
        this.maxPrivateData = device.capabilities().maxPrivateData();
        this.tokenPlace = TokenPlace.on(maxPrivateData);
        this.maxSessions = service.settings().maxSessions() + (tokenPlace == TokenPlace.SEND ? Strangers.MOST : 0);
        long helloTimeoutNs = service.settings().helloTimeoutNs();
        this.tokens = new HelloTokens(helloTimeoutNs, service.settings().random());
        this.greetingTimeoutNs =
                tokenPlace == TokenPlace.PRIVATE_DATA ? helloTimeoutNs : Strangers.timeoutNs(helloTimeoutNs);
    }

    /** Where clients have to show their tokens. */
    public TokenPlace tokenPlace() {
        return tokenPlace;
    }

    /** The tokens of memcached connections. */
    public HelloTokens tokens() {
        return tokens;
    }

    /** Counts wrong keys, and refuses those who use them. */
    public WrongKeys wrongKeys() {
        return wrongKeys;
    }

    /** What queue pairs share. */
    public RdmaService service() {
        return service;
    }

    /** How long a queue pair may exist before its hello. */
    long greetingTimeoutNs() {
        return greetingTimeoutNs;
    }

    /**
     * Permission for a request to get a queue pair.
     *
     * @param owner the memcached connection that it belongs to, or null if the first SEND has to show that
     */
    record Ticket(@Nullable RdmaClient owner) {}

    /**
     * Decides about a request before it has a queue pair, and rejects it if it must not get one.
     *
     * @param sessions how many there are
     * @return null if it was rejected; a ticket without an owner counts until {@link #leave}
     */
    @Nullable
    Ticket admit(ConnectionRequest request, int sessions) {
        InetAddress peer = request.remoteAddress().getAddress();
        long nowNs = service.nowNs();
        RdmaSettings settings = service.settings();
        if (settings.addresses().stream().noneMatch(each -> Wildcards.isMeant(each, settings.ipv6Only(), peer))) {
            return refuse(request, Refusal.NOT_LISTENING);
        }
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

    /** The owner of the token that a stranger's queue pair shows; null if the token is not valid. */
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
