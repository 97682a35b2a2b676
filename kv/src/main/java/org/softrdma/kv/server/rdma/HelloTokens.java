package org.softrdma.kv.server.rdma;

import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.message.HelloDescriptor;

/**
 * Tokens that were issued and not shown yet, at most one for each memcached connection. A token can be used once,
 * within a limited time, and only while its connection lives. Thread-safe.
 */
public final class HelloTokens {
    private final Map<String, Given> tokens = new ConcurrentHashMap<>();
    private final RandomGenerator random;
    private final long lifeNs;

    /**
     * No tokens yet.
     *
     * @param lifeNs how long a token is good
     * @param random a source whose numbers nobody else knows
     */
    HelloTokens(long lifeNs, RandomGenerator random) {
        this.lifeNs = lifeNs;
        this.random = random;
    }

    private record Given(RdmaClient owner, long givenNs) {}

    /** Issues a token. The caller forgets the one it had. */
    public String give(RdmaClient owner, long nowNs) {
        byte[] bytes = new byte[HelloDescriptor.TOKEN_LENGTH];
        random.nextBytes(bytes);
        String token = HexFormat.of().formatHex(bytes);
        tokens.put(token, new Given(owner, nowNs));
        return token;
    }

    /** Uses up a token: returns the connection that it was issued to, or null if it is unknown or too old. */
    @Nullable
    RdmaClient claim(String token, long nowNs) {
        Given given = tokens.remove(token);
        return given == null || nowNs - given.givenNs > lifeNs ? null : given.owner;
    }

    /** Revokes a token. */
    public void forget(String token) {
        tokens.remove(token);
    }
}
