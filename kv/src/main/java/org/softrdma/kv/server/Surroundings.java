package org.softrdma.kv.server;

import java.security.SecureRandom;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;
import org.softrdma.kv.server.host.PlatformThreads;
import org.softrdma.kv.server.host.ServerNetwork;
import org.softrdma.kv.server.host.ServerThreads;
import org.softrdma.kv.turns.Turns;

/**
 * What the server takes from its machine besides the device: clock, random numbers, network, threads. A part of {@link
 * KvServerContext}. Not thread-safe.
 */
public final class Surroundings {
    private final SettingsLock lock;
    private NanoClock nanoClock = SystemNanoClock.INSTANCE;
    private LongSupplier wallSeconds = () -> System.currentTimeMillis() / 1000;
    private LongSupplier clockSeconds = new ServerClock(wallSeconds, nanoClock);
    private RandomGenerator random = new SecureRandom();
    private ServerNetwork network = new SocketNetwork();
    private ServerThreads ownThreads = new PlatformThreads();
    private Turns turns = Turns.OF_JVM;

    Surroundings(SettingsLock lock) {
        this.lock = lock;
    }

    /**
     * Sets the clock of all limits, and with it the clock by which items expire, from now on.
     *
     * @param clock the system's unless set; read by any thread
     */
    public Surroundings nanoClock(NanoClock clock) {
        nanoClock = lock.changed(clock);
        clockSeconds = new ServerClock(wallSeconds, clock);
        return this;
    }

    /** The clock of all limits. */
    public NanoClock nanoClock() {
        return nanoClock;
    }

    /**
     * Sets the clock by which items expire, and the wall clock to the same.
     *
     * @param clock gives seconds since 1970, to any thread; a step forward lets items expire that clients may still
     *     READ
     */
    public Surroundings clockSeconds(LongSupplier clock) {
        clockSeconds = lock.changed(clock);
        wallSeconds = clock;
        return this;
    }

    /**
     * The clock by which items expire: seconds since 1970 at the start, plus the seconds that have passed since.
     * Setting the wall clock does not change it.
     */
    public LongSupplier clockSeconds() {
        return clockSeconds;
    }

    /**
     * Sets the clock that clients have in mind when they give an expiry as a time since 1970.
     *
     * @param clock gives seconds since 1970, to any thread
     */
    public Surroundings wallSeconds(LongSupplier clock) {
        wallSeconds = lock.changed(clock);
        return this;
    }

    /** The wall clock, seconds since 1970. */
    public LongSupplier wallSeconds() {
        return wallSeconds;
    }

    /**
     * Sets where random numbers come from: tokens, the boot id, the seed of hashes. Nobody else may know them.
     *
     * @param source a {@link SecureRandom} unless set; used by any thread
     */
    public Surroundings random(RandomGenerator source) {
        random = lock.changed(source);
        return this;
    }

    /** Where random numbers come from. */
    public RandomGenerator random() {
        return random;
    }

    /**
     * Sets how clients reach the memcached port.
     *
     * @param choice sockets of the system unless set
     */
    public Surroundings network(ServerNetwork choice) {
        network = lock.changed(choice);
        return this;
    }

    /** How clients reach the memcached port. */
    public ServerNetwork network() {
        return network;
    }

    /**
     * Sets where the server's own work runs, beside its connections.
     *
     * @param choice threads of the platform unless set
     */
    public Surroundings ownThreads(ServerThreads choice) {
        ownThreads = lock.changed(choice);
        return this;
    }

    /** Where the server's own work runs. */
    public ServerThreads ownThreads() {
        return ownThreads;
    }

    /**
     * Sets how threads of the server wait for each other, for a simulation.
     *
     * @param choice as the JVM does it unless set
     */
    public Surroundings turns(Turns choice) {
        turns = lock.changed(choice);
        return this;
    }

    /** How threads of the server wait for each other. */
    public Turns turns() {
        return turns;
    }
}
