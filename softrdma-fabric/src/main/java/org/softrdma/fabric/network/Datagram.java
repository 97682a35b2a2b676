package org.softrdma.fabric.network;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;

/**
 * A datagram that was sent.
 *
 * @param from host and port of its sender
 * @param to host and port that it is for
 * @param bytes what it says
 * @param length bytes; it may be empty, and {@code bytes} not
 */
record Datagram(InetSocketAddress from, InetSocketAddress to, MemorySegment bytes, int length) {}
