package org.softrdma.sim.roce.cm;

import org.softrdma.sim.roce.wire.Gid;

/**
 * Where a connection manager is.
 *
 * @param address of its host
 * @param port UDP port to which it is sent
 */
public record CmPeer(Gid address, int port) {}
