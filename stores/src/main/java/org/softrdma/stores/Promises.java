package org.softrdma.stores;

/**
 * What a design promises, in one of its forms. A test stands behind each cell.
 *
 * @param consistency of operations on one key
 * @param provesMiss a GET that answers {@link Outcome#MISSING} proves that the key was absent at some time during it
 * @param getsWithoutServer GETs go on while the server's application stands still, and only its device works
 * @param putsWithoutServer so do PUTs
 * @param survivesClientDeath a client that dies at any point holds up nobody
 * @param lossy pairs may vanish although nobody removes them
 */
public record Promises(
        Consistency consistency,
        boolean provesMiss,
        boolean getsWithoutServer,
        boolean putsWithoutServer,
        boolean survivesClientDeath,
        boolean lossy) {}
