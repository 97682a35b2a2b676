package org.softrdma.kv.server;

import java.security.SecureRandom;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;
import org.softrdma.kv.server.host.PlatformThreads;
import org.softrdma.kv.server.host.ServerNetwork;
import org.softrdma.kv.server.host.ServerThreads;
import org.softrdma.kv.server.stream.StreamNetwork;
import org.softrdma.kv.turns.Turns;

/**
 * What the server takes from its machine besides the device; clocks and random numbers are used by any thread.
 *
 * @param nanoClock the clock of all limits
 * @param clockSeconds the clock by which items expire, in seconds since 1970. Unless set, the time at the start plus
 *     the seconds that have passed since: setting the wall clock does not change it
 * @param wallSeconds the clock that clients have in mind when they give an expiry as a time since 1970
 * @param random where random numbers come from: tokens, the boot id, the seed of hashes. Nobody else may know them
 * @param network how clients reach the memcached port
 * @param ownThreads where the server's own work runs, beside its connections
 * @param turns how threads of the server wait for each other
 */
public record ServerEnvironment(
        NanoClock nanoClock,
        LongSupplier clockSeconds,
        LongSupplier wallSeconds,
        RandomGenerator random,
        ServerNetwork network,
        ServerThreads ownThreads,
        Turns turns) {
    /** The clocks of this machine from now on, its sockets and threads. */
    ServerEnvironment() {
        this(
                SystemNanoClock.INSTANCE,
                new ServerClock(ServerEnvironment::nowSeconds, SystemNanoClock.INSTANCE),
                ServerEnvironment::nowSeconds,
                new SecureRandom(),
                new StreamNetwork(),
                new PlatformThreads(),
                Turns.OF_JVM);
    }

    private static long nowSeconds() {
        return System.currentTimeMillis() / 1000;
    }

    /** The same with another clock of all limits, and with it another one by which items expire, from now on. */
    public ServerEnvironment withNanoClock(NanoClock clock) {
        return new ServerEnvironment(
                clock, new ServerClock(wallSeconds, clock), wallSeconds, random, network, ownThreads, turns);
    }

    /**
     * The same with another clock by which items expire, and the wall clock the same.
     *
     * @param clock a step forward lets items expire that clients may still READ
     */
    public ServerEnvironment withClockSeconds(LongSupplier clock) {
        return new ServerEnvironment(nanoClock, clock, clock, random, network, ownThreads, turns);
    }

    /** The same with another wall clock. */
    public ServerEnvironment withWallSeconds(LongSupplier clock) {
        return new ServerEnvironment(nanoClock, clockSeconds, clock, random, network, ownThreads, turns);
    }

    /** The same with other random numbers. */
    public ServerEnvironment withRandom(RandomGenerator source) {
        return new ServerEnvironment(nanoClock, clockSeconds, wallSeconds, source, network, ownThreads, turns);
    }

    /** The same with another way to the memcached port. */
    public ServerEnvironment withNetwork(ServerNetwork choice) {
        return new ServerEnvironment(nanoClock, clockSeconds, wallSeconds, random, choice, ownThreads, turns);
    }

    /** The same with other threads. */
    public ServerEnvironment withOwnThreads(ServerThreads choice) {
        return new ServerEnvironment(nanoClock, clockSeconds, wallSeconds, random, network, choice, turns);
    }

    /** The same with another way to wait. */
    public ServerEnvironment withTurns(Turns choice) {
        return new ServerEnvironment(nanoClock, clockSeconds, wallSeconds, random, network, ownThreads, choice);
    }
}
