/**
 * What designs share in order to connect: registered memory, the pause before a client tries again, and what a server
 * remembers of its clients.
 *
 * <p>Each object belongs to one thread. Read {@link org.softrdma.stores.connection.ClientSessions} first.
 */
@NullMarked
package org.softrdma.stores.connection;

import org.jspecify.annotations.NullMarked;
