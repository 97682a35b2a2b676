/**
 * The life of a connection: handshake as initiator or responder (MPA, RFC 5044 section 7.1 and RFC 6581), stream, and
 * orderly end.
 *
 * <p>Runs on the engine's thread unless a method says otherwise. Read {@link org.softrdma.sim.connection.Connection}
 * first.
 *
 * <p><b>Who does what.</b> {@link org.softrdma.sim.connection.Connection} gets events and doorbells and takes turns: it
 * receives and sends once for each. ActiveHandshake and PassiveHandshake set up the stream, by the rules in
 * MpaNegotiation. ConnectionLifecycle holds the state and everything that ends a connection. EstablishedStream joins
 * the messages ({@code rdmap}) to the bytes ({@code carrier}), which report to StreamObserver. PeerHost ends a
 * connection whose peer's host no longer answers. ConnectionSocket stands for the socket before it exists and after it
 * is closed. The queue pair is seen through {@link org.softrdma.sim.connection.QueuePairEnd}. Only the handshakes know
 * Connection; the other classes lie below it.
 */
@NullMarked
package org.softrdma.sim.connection;

import org.jspecify.annotations.NullMarked;
