package org.softrdma.stores.herd.wire;

import org.softrdma.verbs.RemoteRegion;

/**
 * What a client has to know of the server. Immutable.
 *
 * @param shape of the client's slots
 * @param numbered requests have numbers: the mended form
 * @param written true if answers are WRITEs into the client's memory
 * @param maxKeyLength bytes of the longest key
 * @param maxValueLength bytes of the longest value
 * @param session what the server remembers of the client: the same number means the same numbers of requests
 * @param boot life of the server
 * @param seed of the hash of keys
 * @param slots where the client WRITEs
 */
public record HerdWelcome(
        HerdShape shape,
        boolean numbered,
        boolean written,
        int maxKeyLength,
        int maxValueLength,
        int session,
        long boot,
        long seed,
        RemoteRegion slots) {}
