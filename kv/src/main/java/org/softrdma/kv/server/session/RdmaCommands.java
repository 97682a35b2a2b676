package org.softrdma.kv.server.session;

import java.net.InetAddress;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.memcached.TextProtocol;
import org.softrdma.kv.memcached.TextRequest;
import org.softrdma.kv.message.HelloDescriptor;
import org.softrdma.kv.server.rdma.AnswerRing;
import org.softrdma.kv.server.rdma.RdmaClient;
import org.softrdma.kv.server.rdma.RdmaCounters;
import org.softrdma.kv.server.rdma.RdmaOffer;
import org.softrdma.kv.server.rdma.WrongKeys;
import org.softrdma.kv.store.PinnedItem;

/** The commands of one connection that concern its queue pair. Owned by the thread of the connection. */
final class RdmaCommands {
    private static final byte[] CLOSED_QUEUE_PAIR = TextProtocol.line("CLIENT_ERROR no queue pair");
    private static final byte[] WRONG_KEYS =
            TextProtocol.line("CLIENT_ERROR rdma refused, this connection used too many wrong keys");
    private static final int LONGEST_VERSION = 9;

    private final KvService service;
    private final RdmaCounters counters;
    private final RdmaOffer offer;
    private final Conversation connection;
    private final RdmaClient client;
    private final Runnable resume;
    private @Nullable String token;

    RdmaCommands(KvService service, RdmaOffer offer, Conversation connection) {
        this.service = service;
        this.counters = offer.admission().service().counters();
        this.offer = offer;
        this.connection = connection;
        this.client = connection.rdmaClient();
        this.resume = connection::resumeLater;
    }

    /** {@code rdma hello}; true if this client now knows where to connect. */
    boolean hello(TextRequest request) {
        String version = request.argument(2);
        if (!version.equals(Integer.toString(HelloDescriptor.VERSION))) {
            connection.reply(TextProtocol.line(unknownVersion(version)));
            return false;
        }
        if (client.wrongKeys() >= WrongKeys.FORGIVEN) {
            connection.reply(WRONG_KEYS);
            return false;
        }
        long nowNs = service.nowNs();
        InetAddress address = client.address();
        long pauseNs = address == null ? 0 : offer.admission().wrongKeys().pausedForNs(address, nowNs);
        if (pauseNs > 0) {
            counters.pausedHellos.increment();
            connection.reply(TextProtocol.line("CLIENT_ERROR rdma refused for "
                    + (TimeUnit.NANOSECONDS.toSeconds(pauseNs) + 1) + " s, this address used wrong keys"));
            return false;
        }
        forgetToken();
        client.disconnect();
        String fresh = offer.admission().tokens().give(client, nowNs);
        token = fresh;
        connection.reply(offer.helloLine(fresh));
        return true;
    }

    /** Names both versions; what an old client sent is repeated if it is a number. */
    private static String unknownVersion(String version) {
        boolean number = !version.isEmpty()
                && version.length() <= LONGEST_VERSION
                && version.chars().allMatch(c -> c >= '0' && c <= '9');
        return "CLIENT_ERROR rdma version " + (number ? version + " " : "") + "not supported, expected "
                + HelloDescriptor.VERSION;
    }

    /** {@code rget}. */
    void get(TextRequest request) {
        AnswerRing answers = client.answers();
        if (answers == null) {
            connection.reply(CLOSED_QUEUE_PAIR);
            return;
        }
        long nowSeconds = service.nowSeconds();
        PinnedItem item = service.store().pin(request.key(0), nowSeconds);
        AnswerRing.Status status = answers.answer(item, request, nowSeconds, resume);
        if (status == AnswerRing.Status.POSTED) {
            (item.isPresent() ? counters.rgetHits : counters.rgetMisses).increment();
            return;
        }
        if (status == AnswerRing.Status.FULL) {
            connection.continueLater(() -> get(request));
            connection.suspend();
        } else {
            connection.reply(CLOSED_QUEUE_PAIR);
        }
    }

    /** The connection ends. */
    void release() {
        forgetToken();
        client.release();
    }

    private void forgetToken() {
        if (token != null) {
            offer.admission().tokens().forget(token);
            token = null;
        }
    }
}
