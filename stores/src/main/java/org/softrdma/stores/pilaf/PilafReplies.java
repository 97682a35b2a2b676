package org.softrdma.stores.pilaf;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Replies of one round of the server, which go once its changes are safe. Owned by the server's thread. */
final class PilafReplies {
    private final List<PilafConnection> connections = new ArrayList<>();
    private int[] replies = new int[64];
    private int[] lengths = new int[64];

    void add(PilafConnection connection, int reply, int length) {
        int at = connections.size();
        if (at == replies.length) {
            replies = Arrays.copyOf(replies, 2 * at);
            lengths = Arrays.copyOf(lengths, 2 * at);
        }
        connections.add(connection);
        replies[at] = reply;
        lengths[at] = length;
    }

    /** Sends those of connections that are still there; returns how many. */
    int send() {
        int sent = 0;
        for (int i = 0; i < connections.size(); i++) {
            PilafConnection connection = connections.get(i);
            if (connection.isOpen()) {
                connection.send(replies[i], lengths[i]);
                sent++;
            }
        }
        connections.clear();
        return sent;
    }
}
