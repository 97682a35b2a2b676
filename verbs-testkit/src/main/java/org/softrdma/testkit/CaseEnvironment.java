package org.softrdma.testkit;

import java.util.Set;
import org.softrdma.verbs.device.VerbsProvider;

/**
 * Where cases run: who opens their devices, starts their threads, and tells the time. The machine, unless somebody runs
 * them in a simulation. Thread-safe.
 */
public interface CaseEnvironment extends TimeOfRun {
    /** Opens devices for the side that connects and posts. */
    VerbsProvider requester();

    /** Opens devices for the side that accepts. */
    VerbsProvider responder();

    /**
     * Takes a little time, by doing nothing.
     *
     * @param spins how often to do nothing
     */
    void spin(int spins);

    /**
     * Starts a thread.
     *
     * @param name of the thread
     * @param virtual it mostly waits
     * @param work what it does
     */
    void start(String name, boolean virtual, Runnable work);

    /** Lawful differences of its devices beside those of their provider. */
    default Set<ProviderTraits.Trait> traits() {
        return Set.of();
    }

    /** True if devices are reached by sockets of this machine, so that a case may speak through one of its own. */
    boolean hasSockets();
}
