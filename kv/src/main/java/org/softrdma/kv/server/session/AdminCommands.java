package org.softrdma.kv.server.session;

import java.util.function.LongConsumer;
import org.softrdma.kv.memcached.TextProtocol;
import org.softrdma.kv.memcached.TextRequest;

/** The commands of one connection that concern the whole server. Owned by the thread of the connection. */
final class AdminCommands {
    private static final String NUMBER = "[0-9]{1,9}";

    /** Numbers of slab classes, 1 to 63. */
    private static final String CLASSES = "([1-9]|[1-5][0-9]|6[0-3])(,([1-9]|[1-5][0-9]|6[0-3]))*";

    private static final int LEAST_MEGABYTES = 8;
    private static final int MOST_MEGABYTES = 1 << 26;

    private final KvService service;
    private final Maintenance maintenance;
    private final ServerStatistics statistics;
    private final ConnectionList connections;
    private final Conversation connection;

    AdminCommands(ServerParts server, Conversation connection) {
        this.service = server.service();
        this.maintenance = server.maintenance();
        this.statistics = server.statistics();
        this.connections = server.connections();
        this.connection = connection;
    }

    /** Answers once everything is gone: items die one by one, and a READ must not find one afterwards. */
    void flushAll(TextRequest request) {
        if (!service.settings().rules().flushAllowed()) {
            reply(request, TextProtocol.FLUSH_DISABLED);
            return;
        }
        service.counters().flushes.increment();
        long nowSeconds = service.nowSeconds();
        int at = request.exptime() == 0 ? 0 : service.expiry(request.exptime(), nowSeconds);
        if (Integer.toUnsignedLong(at) > nowSeconds) {
            maintenance.flushAt(Integer.toUnsignedLong(at));
            reply(request, TextProtocol.OK);
            return;
        }
        connection.await();
        byte[] answer = request.noreply() ? new byte[0] : TextProtocol.OK;
        maintenance.flush(() -> connection.done(answer));
    }

    void verbosity(TextRequest request) {
        service.verbosity(request.number());
        reply(request, TextProtocol.OK);
    }

    void stats(TextRequest request) {
        switch (request.argument(1)) {
            case "" -> connection.reply(statistics.general());
            case "settings" -> connection.reply(statistics.settings());
            case "items" -> connection.reply(statistics.items());
            case "slabs" -> connection.reply(statistics.slabs());
            case "conns" ->
                connection.reply(isShort() ? TextProtocol.OUT_OF_MEMORY_STATS : connections.describe(connection));
            case "rdma" -> connection.reply(statistics.rdma());
            case "detail" -> detail(request.argument(2));
            case "sizes" -> connection.reply(statistics.sizes());
            case "cachedump" -> connection.reply(TextProtocol.CACHEDUMP_DISABLED);
            case "reset" -> {
                statistics.reset();
                connection.reply(TextProtocol.RESET);
            }
            default -> connection.reply(TextProtocol.ERROR);
        }
    }

    private void detail(String what) {
        switch (what) {
            case "on", "off" -> {
                service.prefixes().counting(what.equals("on"));
                connection.reply(TextProtocol.OK);
            }
            case "dump" ->
                connection.reply(
                        isShort()
                                ? TextProtocol.OUT_OF_MEMORY_STATS
                                : service.prefixes().dump());
            default -> connection.reply(TextProtocol.BAD_DETAIL);
        }
    }

    /** True if there is no memory for long answers, because clients do not read theirs. */
    private boolean isShort() {
        return service.outputBudget().isShort();
    }

    /** A page stays with its class here, which is what memcached says without -o slab_reassign. */
    void slabs(TextRequest request) {
        String level = request.argument(2);
        boolean number = level.matches(NUMBER);
        switch (request.argument(1)) {
            case "reassign" ->
                reply(request, request.argumentCount() == 3 ? TextProtocol.REASSIGN_DISABLED : TextProtocol.ERROR);
            case "automove" -> {
                if (number && Integer.parseInt(level) == 0) {
                    reply(request, TextProtocol.OK);
                } else {
                    boolean known = number || level.equals("ratio");
                    reply(request, known ? TextProtocol.REASSIGN_DISABLED : TextProtocol.BAD_FORMAT);
                }
            }
            default -> reply(request, TextProtocol.ERROR);
        }
    }

    /** Expired items go, whatever class they are in. */
    void crawler(TextRequest request) {
        String classes = request.argument(2);
        switch (request.argument(1)) {
            case "enable", "disable" -> {
                maintenance.crawling(request.argument(1).equals("enable"));
                connection.reply(TextProtocol.OK);
            }
            case "crawl" -> {
                if (!maintenance.isCrawling()) {
                    connection.reply(TextProtocol.CRAWLER_DISABLED);
                } else if (!classes.equals("all") && !classes.matches(CLASSES)) {
                    connection.reply(TextProtocol.BAD_CLASS);
                } else {
                    maintenance.crawl();
                    connection.reply(TextProtocol.OK);
                }
            }
            default -> connection.reply(TextProtocol.ERROR);
        }
    }

    void memoryLimit(TextRequest request) {
        long megabytes = request.number();
        if (megabytes < LEAST_MEGABYTES) {
            reply(request, TextProtocol.MEMLIMIT_TOO_SMALL);
        } else if (megabytes > MOST_MEGABYTES) {
            reply(request, TextProtocol.MEMLIMIT_TOO_LARGE);
        } else {
            service.store().memoryLimit(megabytes << 20);
            reply(request, TextProtocol.OK);
        }
    }

    void debugTime(TextRequest request) {
        LongConsumer moveClock = service.settings().owner().moveClock();
        if (moveClock == null || !request.argument(1).matches("-?" + NUMBER)) {
            connection.reply(TextProtocol.ERROR);
        } else {
            moveClock.accept(Long.parseLong(request.argument(1)));
            connection.reply(TextProtocol.OK);
        }
    }

    void shutdown(TextRequest request) {
        Runnable stop = service.settings().owner().shutdown();
        if (stop == null) {
            connection.reply(TextProtocol.SHUTDOWN_DISABLED);
        } else if (request.argument(1).isEmpty() || request.argument(1).equals("graceful")) {
            connection.closeAfterOutput();
            stop.run();
        } else {
            connection.reply(TextProtocol.BAD_SHUTDOWN);
        }
    }

    private void reply(TextRequest request, byte[] answer) {
        if (!request.noreply()) {
            connection.reply(answer);
        }
    }
}
