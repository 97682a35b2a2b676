package org.softrdma.stores.nessie.layout;

import org.softrdma.verbs.RemoteRegion;

/**
 * What a node tells a worker that connects. Immutable.
 *
 * @param shape of the store; the same at all nodes
 * @param node its number, which is that of its data table
 * @param boot its life: a random number
 * @param coherent true if a READ moves a word of the index table whole
 * @param index the index table
 * @param data the data table
 * @param notices a word for each entry, into which whoever takes the last name from an entry writes that
 */
public record NessieRoots(
        NessieShape shape,
        int node,
        long boot,
        boolean coherent,
        RemoteRegion index,
        RemoteRegion data,
        RemoteRegion notices) {}
