package org.softrdma.stores.connection;

import java.util.function.IntFunction;
import org.agrona.collections.Long2ObjectHashMap;
import org.jspecify.annotations.Nullable;

/**
 * What a server remembers of its clients. Of those that are gone it forgets who went first, once there are too many. A
 * client that comes back knows by the life of the server and the serial number of its session whether it is remembered:
 * that there is a session says nothing, because an attempt to connect that failed may have made it. Owned by the
 * server's thread.
 *
 * @param <S> the sessions
 */
public final class ClientSessions<S extends ClientSession> {
    private final Long2ObjectHashMap<S> byClient = new Long2ObjectHashMap<>();
    private final int most;
    private final IntFunction<S> maker;
    private int lastSerial;

    /**
     * No sessions.
     *
     * @param most sessions, as long as fewer clients are connected
     * @param maker makes the session with a serial number
     */
    public ClientSessions(int most, IntFunction<S> maker) {
        this.most = most;
        this.maker = maker;
    }

    /** That of a client, new if it is not remembered. */
    public S of(long client) {
        S session = byClient.get(client);
        if (session == null) {
            if (byClient.size() >= most) {
                forgetOne();
            }
            session = maker.apply(++lastSerial);
            byClient.put(client, session);
        }
        return session;
    }

    private void forgetOne() {
        @Nullable Long client = null;
        long oldestNs = 0;
        for (var entry : byClient.entrySet()) {
            S session = entry.getValue();
            if (!session.isConnected() && (client == null || session.usedNs() - oldestNs < 0)) {
                oldestNs = session.usedNs();
                client = entry.getKey();
            }
        }
        if (client != null) {
            byClient.remove(client.longValue());
        }
    }
}
