/**
 * RoCEv2 as bytes: base and extended transport headers, the invariant CRC, and the messages of the connection manager
 * (InfiniBand Architecture Specification, volume 1, chapters 9 and 12; annexes A16 and A17). Pure layouts and codes, no
 * state and no I/O.
 *
 * <p>Everything is big endian but the invariant CRC. Read {@link org.softrdma.sim.roce.wire.RocePacket} first, then
 * {@link org.softrdma.sim.roce.wire.Icrc}. Any thread, but for the objects that say otherwise.
 */
@NullMarked
package org.softrdma.sim.roce.wire;

import org.jspecify.annotations.NullMarked;
