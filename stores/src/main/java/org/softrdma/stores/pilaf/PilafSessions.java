package org.softrdma.stores.pilaf;

import org.agrona.collections.Long2ObjectHashMap;

/**
 * What the server remembers of its clients. Of those that are gone it forgets who went first, once there are too many; a
 * client that comes back knows by the session's serial number whether it is remembered. Owned by the server's thread.
 */
final class PilafSessions {
    private final Long2ObjectHashMap<PilafSession> byClient = new Long2ObjectHashMap<>();
    private final int most;
    private final int window;
    private int lastSerial;

    PilafSessions(int most, int window) {
        this.most = most;
        this.window = window;
    }

    /** That of a client, new if it is not remembered. */
    PilafSession of(long client) {
        PilafSession session = byClient.get(client);
        if (session == null) {
            if (byClient.size() >= most) {
                forgetOne();
            }
            session = new PilafSession(++lastSerial, window);
            byClient.put(client, session);
        }
        return session;
    }

    private void forgetOne() {
        long client = 0;
        long oldestNs = Long.MAX_VALUE;
        for (var entry : byClient.entrySet()) {
            PilafSession session = entry.getValue();
            if (!session.isConnected() && session.usedNs() < oldestNs) {
                oldestNs = session.usedNs();
                client = entry.getKey();
            }
        }
        if (oldestNs < Long.MAX_VALUE) {
            byClient.remove(client);
        }
    }
}
