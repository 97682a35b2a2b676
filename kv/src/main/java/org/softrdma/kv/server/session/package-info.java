/**
 * Sessions of memcached clients: their commands, the answers being sent, and commands that concern the whole server
 * (statistics, flushes).
 *
 * <p>The network's thread of a connection runs its commands; {@link org.softrdma.kv.server.session.Maintenance} is an
 * agent. Read {@link org.softrdma.kv.server.session.MemcachedConnection} first, then {@code Conversation},
 * {@code Commands} for the text protocol and {@code BinaryCommands} for the binary one.
 */
@NullMarked
package org.softrdma.kv.server.session;

import org.jspecify.annotations.NullMarked;
