/**
 * The life of a connection: handshake as initiator or responder (MPA, RFC 5044 section 7.1 and RFC 6581), stream, and an orderly end.
 *
 * <p>Engine thread only, unless a method says otherwise. Read {@link org.softrdma.sim.connection.Connection} first.
 */
@NullMarked
package org.softrdma.sim.connection;

import org.jspecify.annotations.NullMarked;
