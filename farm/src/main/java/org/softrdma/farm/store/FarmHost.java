package org.softrdma.farm.store;

import java.lang.foreign.MemorySegment;
import org.softrdma.farm.ring.RingBox;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreCounters;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * What the sessions of a server share. The server's thread.
 *
 * @param device of the server
 * @param domain of all its objects
 * @param context of the server
 * @param settings what it is made of
 * @param shards its memory
 * @param life number of this life of the server
 * @param counters what it counts
 */
record FarmHost(
        VerbsDevice device,
        ProtectionDomain domain,
        StoreServerContext context,
        FarmSettings settings,
        FarmShards shards,
        long life,
        StoreCounters counters) {
    Protocol protocol() {
        return context.protocol();
    }

    /** How messages are believed. */
    boolean proven() {
        return protocol() == Protocol.SAFE;
    }

    long nanoTime() {
        return context.nanoClock().nanoTime();
    }

    /** Bytes of the ring for a client's requests. */
    int ringLength() {
        int longest = FarmRequestDescriptor.length(context.maxKeyLength(), context.maxValueLength());
        return RingBox.capacityFor(longest, context.window());
    }

    /** True if a request is of lengths that this table has. */
    boolean takes(MemorySegment message, long at) {
        int key = FarmRequestDescriptor.keyLength(message, at);
        int value = FarmRequestDescriptor.valueLength(message, at);
        boolean fits = key <= context.maxKeyLength() && value <= context.maxValueLength();
        boolean put = FarmRequestDescriptor.operation(message, at) == FarmRequestDescriptor.PUT;
        return fits
                && (!settings.shape().inline()
                        || (key == context.maxKeyLength() && (!put || value == context.maxValueLength())));
    }

    FarmWelcomeDescriptor.Welcome welcome(RingBox inbox) {
        return new FarmWelcomeDescriptor.Welcome(
                life,
                inbox.region().remote(),
                inbox.capacity(),
                context.maxKeyLength(),
                context.maxValueLength(),
                settings.shape(),
                shards.remote());
    }
}
