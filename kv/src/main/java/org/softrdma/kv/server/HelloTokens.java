package org.softrdma.kv.server;

import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.message.HelloDescriptor;

/**
 * The tokens that were given and not shown yet, at most one for each memcached connection. A token is good once, for a limited time,
 * and as long as its connection. Thread-safe.
 */
final class HelloTokens {
    private final Map<String, Given> tokens = new ConcurrentHashMap<>();
    private final RandomGenerator random;
    private final long lifeNs;

    /**
     * None yet.
     *
     * @param lifeNs how long a token is good
     * @param random nobody else knows its numbers
     */
    HelloTokens(long lifeNs, RandomGenerator random) {
        this.lifeNs = lifeNs;
        this.random = random;
    }

    private record Given(RdmaClient owner, long givenNs) {}

    /** A new one; the connection forgets the one it had. */
    String give(RdmaClient owner, long nowNs) {
        byte[] bytes = new byte[HelloDescriptor.TOKEN_LENGTH];
        random.nextBytes(bytes);
        String token = HexFormat.of().formatHex(bytes);
        tokens.put(token, new Given(owner, nowNs));
        return token;
    }

    /** The connection to which a token was given; null, and it is of no use, if nobody has it or it is too old. */
    @Nullable
    RdmaClient claim(String token, long nowNs) {
        Given given = tokens.remove(token);
        return given == null || nowNs - given.givenNs > lifeNs ? null : given.owner;
    }

    /** It will not be used. */
    void forget(String token) {
        tokens.remove(token);
    }
}
