package org.softrdma.kv.server.session;

import org.softrdma.kv.memcached.TextRequest;
import org.softrdma.kv.server.watch.WatchLog;

/**
 * The lookup that a command makes before it changes an item, as those who watch fetchers see it: of its own, and only
 * while somebody does. Owned by the thread of the connection.
 */
final class WatchedLookup {
    private final KvService service;
    private final WatchLog watchLog;
    private final Conversation connection;

    WatchedLookup(KvService service, Conversation connection) {
        this.service = service;
        this.watchLog = service.watchLog();
        this.connection = connection;
    }

    /** Tells of the lookup of a request's key. */
    void tell(TextRequest request) {
        if (!watchLog.wants(WatchLog.FETCHERS)) {
            return;
        }
        byte[] key = request.bytes();
        int offset = request.keyOffset(0);
        int length = request.keyLength(0);
        boolean found = service.store()
                .get(
                        key,
                        offset,
                        length,
                        service.nowSeconds(),
                        false,
                        item -> watchLog.fetched(key, offset, length, item, connection.number()));
        if (!found) {
            watchLog.missed(key, offset, length, connection.number());
        }
    }
}
