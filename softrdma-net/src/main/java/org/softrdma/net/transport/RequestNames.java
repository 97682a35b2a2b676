package org.softrdma.net.transport;

import java.util.OptionalLong;

/**
 * Names the requests whose messages go through a socket, for a network that breaks one of them on purpose. On its event
 * loop only.
 */
@FunctionalInterface
public interface RequestNames {
    /**
     * The wrId of a request whose message is being sent.
     *
     * @param request its number on the connection, from 0
     */
    OptionalLong wrId(long request);
}
