package org.softrdma.kv.server.session;

import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What clients of the memcached port may do.
 *
 * @param maxConnections how many connections there may be
 * @param requestsPerTurn after how many requests a connection yields to others; 0 for no such limit
 * @param idleTimeoutSeconds after how many seconds without a request a connection is closed; 0 for never
 * @param flushAllowed whether they may flush
 * @param protocol which protocols they may speak
 * @param login true for the bytes {@code user password} of a user; null if everybody may come in
 */
public record ClientRules(
        int maxConnections,
        int requestsPerTurn,
        int idleTimeoutSeconds,
        boolean flushAllowed,
        Protocol protocol,
        @Nullable Predicate<byte[]> login) {
    /** The protocols of the memcached port; memcached's {@code -B}. */
    public enum Protocol {
        /** Text, classic and meta. */
        ASCII,
        /** Binary. */
        BINARY,
        /** Both: the first byte of a connection decides. */
        AUTO
    }
}
