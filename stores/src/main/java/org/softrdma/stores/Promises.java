package org.softrdma.stores;

/**
 * The guarantees of a design, in one of its forms. A test checks each of them.
 *
 * @param consistency of operations on one key
 * @param provesMiss a GET that answers {@link Outcome#MISSING} proves that the key was absent at some time during it
 * @param getsWithoutServer GETs continue while the server's application is paused and only its device works
 * @param putsWithoutServer so do PUTs
 * @param survivesClientDeath a client that dies at any point blocks no other
 * @param lossy pairs may vanish although nobody removes them
 */
public record Promises(
        Consistency consistency,
        boolean provesMiss,
        boolean getsWithoutServer,
        boolean putsWithoutServer,
        boolean survivesClientDeath,
        boolean lossy) {}
