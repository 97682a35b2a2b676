package org.softrdma.stores.pilaf;

import org.softrdma.verbs.RemoteRegion;

/**
 * Where a client begins to read, and what it has to know of the server. Immutable.
 *
 * @param hash where keys are
 * @param fingerprints entries carry fingerprints of their keys
 * @param window requests that may be on their way
 * @param maxKeyLength bytes of the longest key
 * @param maxValueLength bytes of the longest value
 * @param session what the server remembers of the client: the same number means the same changes and answers
 * @param boot life of the server
 * @param epoch of the regions
 * @param entries the table
 * @param extents the pairs
 */
record PilafRoots(
        PilafHash hash,
        boolean fingerprints,
        int window,
        int maxKeyLength,
        int maxValueLength,
        int session,
        long boot,
        int epoch,
        RemoteRegion entries,
        RemoteRegion extents) {}
