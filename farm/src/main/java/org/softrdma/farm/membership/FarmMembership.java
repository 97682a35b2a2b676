package org.softrdma.farm.membership;

import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * The service that keeps the configuration, as one machine sees it: a session, conditional writes, and news. It says who
 * is suspected; who is a member only the configuration says. The node's thread.
 */
public interface FarmMembership extends AutoCloseable {
    /** The number of this life of this machine: no other one has it, ever. */
    int machine();

    /**
     * Tells the others where this machine listens.
     *
     * @param address of its device
     * @param memory whether it offers memory: without, no region is put on it
     */
    void announce(InetSocketAddress address, boolean memory);

    /** Where a machine listens, or null if that is not known (yet). */
    @Nullable
    InetSocketAddress address(int machine);

    /** Begins a write; its answer is an event. Writes of one machine take effect in their order. */
    void write(MembershipWrite write);

    /**
     * Tells what has come.
     *
     * @param events takes it
     * @return how much
     */
    int poll(MembershipEvents events);

    /** Ends the session. */
    @Override
    void close();
}
