package org.softrdma.kv.server.session;

import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.memcached.TextDecoder;
import org.softrdma.kv.memcached.TextProtocol;
import org.softrdma.kv.memcached.TextRequest;
import org.softrdma.kv.server.rdma.RdmaOffer;

/** Hands each command of a connection to the class that carries it out. Owned by the thread of the connection. */
final class Commands {
    private final KvService service;
    private final RdmaOffer offer;
    private final Conversation conversation;
    private final TextDecoder decoder;
    private final ItemOperations items;
    private final ClassicCommands classic;
    private final MetaCommands meta;
    private final AdminCommands admin;
    private final LruCommands lru;
    private final WatchCommand watch;
    private final RdmaCommands rdma;

    /** Null once the client is logged in, or if everybody may come in. */
    private @Nullable Login login;

    /**
     * The commands of a new connection.
     *
     * @param server whose connection it is
     * @param decoder of the requests
     */
    Commands(ServerParts server, Conversation conversation, TextDecoder decoder) {
        this.service = server.service();
        this.offer = server.offer();
        this.conversation = conversation;
        this.decoder = decoder;
        this.items = new ItemOperations(service, conversation);
        this.classic = new ClassicCommands(service, items, conversation);
        this.meta = new MetaCommands(service, items, conversation);
        this.admin = new AdminCommands(server, conversation);
        this.lru = new LruCommands(server, conversation);
        this.watch = new WatchCommand(service, conversation);
        this.rdma = new RdmaCommands(service, offer, conversation);
        Predicate<byte[]> users = service.settings().rules().login();
        this.login = users == null ? null : new Login(users, service.counters(), conversation);
        decoder.onlyShortLines(login != null);
    }

    void execute(TextRequest request) {
        if (login == null) {
            executeCommand(request);
        } else {
            login.execute(request);
        }
    }

    private void executeCommand(TextRequest request) {
        switch (request.command()) {
            case GET, GETS, GAT, GATS -> classic.get(request);
            case SET, ADD, REPLACE, APPEND, PREPEND, CAS -> classic.store(request);
            case DELETE -> classic.delete(request);
            case INCR, DECR -> classic.incrementOrDecrement(request);
            case TOUCH -> classic.touch(request);
            case FLUSH_ALL -> admin.flushAll(request);
            case VERSION -> conversation.reply(service.versionLine());
            case VERBOSITY -> admin.verbosity(request);
            case STATS -> admin.stats(request);
            case SLABS -> admin.slabs(request);
            case LRU -> lru.lru(request);
            case LRU_CRAWLER -> lru.crawler(request);
            case CACHE_MEMLIMIT -> admin.memoryLimit(request);
            case WATCH -> watch.watch(request);
            case EXTSTORE -> conversation.reply(TextProtocol.EXTSTORE_REFUSED);
            case REFRESH_CERTS -> admin.refreshCertificates();
            case DEBUGTIME -> admin.debugTime(request);
            case SHUTDOWN -> admin.shutdown(request);
            case QUIT -> conversation.closeAfterOutput();
            case CLOSE -> conversation.closeAfterError();
            case META_NOOP -> conversation.reply(TextProtocol.META_NOOP);
            case META_GET -> meta.get(request);
            case META_SET -> meta.set(request);
            case META_DELETE -> meta.delete(request);
            case META_ARITHMETIC -> meta.arithmetic(request);
            case META_DEBUG -> meta.debug(request);
            case RDMA_HELLO -> {
                if (rdma.hello(request)) {
                    classic.answerLocators();
                }
            }
            case RDMA_ARENAS -> conversation.reply(offer.arenaLines());
            case RGET -> rdma.get(request);
            case INVALID -> refuse(request);
        }
    }

    private void refuse(TextRequest request) {
        if (request.valueFollows()) {
            conversation.expectValue(null, request.valueLength());
        }
        if (!request.noreply()) {
            conversation.reply(request.error());
        }
    }

    /** The value behind the last request has come, or was skipped. */
    void endValue(boolean terminated) {
        if (login != null) {
            login = login.endValue(terminated) ? null : login;
            decoder.onlyShortLines(login != null);
        } else {
            items.endValue(terminated);
        }
    }

    /** All that has come is used up, and the value is not whole. */
    void awaitValue() {
        items.awaitValue();
    }

    /** Gives back what the connection holds. */
    void release() {
        items.release();
        rdma.release();
    }
}
