package org.softrdma.kv.server.session;

import org.softrdma.kv.memcached.TextProtocol;
import org.softrdma.kv.memcached.TextRequest;
import org.softrdma.kv.server.watch.WatchLog;
import org.softrdma.kv.server.watch.Watcher;

/** {@code watch}: the connection then only receives events. Owned by the thread of the connection. */
final class WatchCommand {
    private final KvService service;
    private final Conversation connection;

    WatchCommand(KvService service, Conversation connection) {
        this.service = service;
        this.connection = connection;
    }

    void watch(TextRequest request) {
        if (!service.settings().diagnosis().watchAllowed()) {
            reply(request, TextProtocol.WATCH_DISABLED);
            return;
        }
        if (connection.hasOutput()) {
            reply(request, TextProtocol.WATCH_PIPELINED);
            return;
        }
        int events = 0;
        for (int i = 1; i <= request.argumentCount(); i++) {
            int event = event(request.argument(i));
            if (event < 0) {
                reply(request, TextProtocol.ERROR);
                return;
            }
            events |= event;
        }
        Watcher watcher = new Watcher(
                request.argumentCount() == 0 ? WatchLog.FETCHERS : events,
                service.watchLog().bufferBytes(),
                connection);
        if (!service.watchLog().add(watcher)) {
            reply(request, TextProtocol.WATCHER_TOO_MANY);
            return;
        }
        connection.reply(TextProtocol.OK);
        connection.watch(watcher);
        connection.flush();
    }

    /** What memcached never logs without its proxy, or not at all, is never seen here either. */
    private static int event(String word) {
        return switch (word) {
            case "fetchers" -> WatchLog.FETCHERS;
            case "mutations" -> WatchLog.MUTATIONS;
            case "evictions" -> WatchLog.EVICTIONS;
            case "connevents" -> WatchLog.CONNECTIONS;
            case "rawcmds", "sysevents", "proxyreqs", "proxyevents", "proxyuser" -> 0;
            default -> -1;
        };
    }

    private void reply(TextRequest request, byte[] answer) {
        if (!request.noreply()) {
            connection.reply(answer);
        }
    }
}
