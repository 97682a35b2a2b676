package org.softrdma.farm.transaction;

import java.nio.ByteBuffer;

/**
 * Runs at the primary of an object, as a transaction of one machine; or as a part of one, with others that came at the
 * same time. The node's thread: it must be short, and must not wait.
 */
@FunctionalInterface
public interface ShippedFunction {
    /**
     * Runs. What it throws undoes what it has done, and is told to whoever has shipped it.
     *
     * @param objects what is here
     * @param address of the object that it was shipped to
     * @param argument what else it was given, little endian
     * @return result; {@link LocalObjects#tell} adds bytes to it
     */
    long run(LocalObjects objects, long address, ByteBuffer argument);
}
