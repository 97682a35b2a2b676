package org.softrdma.stores.pilaf;

import org.softrdma.verbs.RemoteRegion;

/**
 * Where a client begins to read, and what it has to know of the server. Immutable.
 *
 * @param hash where keys are
 * @param fingerprints entries carry fingerprints of their keys
 * @param remembered the server remembers the client's last changes, so they may be asked for again
 * @param window requests that may be on their way
 * @param maxKeyLength bytes of the longest key
 * @param maxValueLength bytes of the longest value
 * @param boot life of the server
 * @param epoch of the regions
 * @param entries the table
 * @param extents the pairs
 */
record PilafRoots(
        PilafHash hash,
        boolean fingerprints,
        boolean remembered,
        int window,
        int maxKeyLength,
        int maxValueLength,
        long boot,
        int epoch,
        RemoteRegion entries,
        RemoteRegion extents) {}
