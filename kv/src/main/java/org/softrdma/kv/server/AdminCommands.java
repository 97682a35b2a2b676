package org.softrdma.kv.server;

import org.softrdma.kv.memcached.Expiry;
import org.softrdma.kv.memcached.TextProtocol;
import org.softrdma.kv.memcached.TextRequest;

/** The commands of one connection that concern the whole server. Owned by the thread of the connection. */
final class AdminCommands {
    private final KvServer server;
    private final MemcachedConnection connection;

    AdminCommands(KvServer server, MemcachedConnection connection) {
        this.server = server;
        this.connection = connection;
    }

    /** Answers once everything is gone: items die one by one, and a READ must not find one afterwards. */
    void flushAll(TextRequest request) {
        if (!server.context().flushAllowed()) {
            reply(request, TextProtocol.FLUSH_DISABLED);
            return;
        }
        server.counters().flushes.increment();
        long nowSeconds = server.nowSeconds();
        int at = request.exptime() == 0 ? 0 : Expiry.toAbsolute(request.exptime(), nowSeconds);
        if (Integer.toUnsignedLong(at) > nowSeconds) {
            server.maintenance().flushAt(Integer.toUnsignedLong(at));
            reply(request, TextProtocol.OK);
            return;
        }
        connection.await();
        byte[] answer = request.noreply() ? new byte[0] : TextProtocol.OK;
        server.maintenance().flush(() -> connection.done(answer));
    }

    void verbosity(TextRequest request) {
        server.verbosity(request.number());
        reply(request, TextProtocol.OK);
    }

    void stats(TextRequest request) {
        ServerStatistics statistics = server.statistics();
        switch (request.argument(1)) {
            case "" -> connection.reply(statistics.general());
            case "settings" -> connection.reply(statistics.settings());
            case "items" -> connection.reply(statistics.items());
            case "slabs" -> connection.reply(statistics.slabs());
            case "rdma" -> connection.reply(statistics.rdma());
            case "reset" -> {
                statistics.reset();
                connection.reply(TextProtocol.RESET);
            }
            default -> connection.reply(TextProtocol.ERROR);
        }
    }

    void shutdown(TextRequest request) {
        Runnable stop = server.context().shutdown();
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
