package org.softrdma.stores.herd;

import org.agrona.collections.Long2ObjectHashMap;

/**
 * What the server remembers of its clients. Of those that are gone it forgets who went first, once there are too many; a
 * client that comes back knows by the session's serial number whether it is remembered. Owned by the server's thread.
 */
final class HerdSessions {
    private final Long2ObjectHashMap<HerdSession> byClient = new Long2ObjectHashMap<>();
    private final int most;
    private final int slots;
    private int lastSerial;

    HerdSessions(int most, int slots) {
        this.most = most;
        this.slots = slots;
    }

    /** That of a client, new if it is not remembered. */
    HerdSession of(long client) {
        HerdSession session = byClient.get(client);
        if (session == null) {
            if (byClient.size() >= most) {
                forgetOne();
            }
            session = new HerdSession(++lastSerial, slots);
            byClient.put(client, session);
        }
        return session;
    }

    private void forgetOne() {
        long client = 0;
        long oldestNs = Long.MAX_VALUE;
        for (var entry : byClient.entrySet()) {
            HerdSession session = entry.getValue();
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
