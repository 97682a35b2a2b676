package org.softrdma.stores.herd.transport;

import java.lang.foreign.MemorySegment;

/** Takes what comes from a server. On the client's thread. */
@FunctionalInterface
public interface HerdReplyHandler {
    /**
     * A message has come.
     *
     * @param memory in which it is, until this returns
     * @param at where it begins
     * @param length its bytes
     */
    void onMessage(MemorySegment memory, long at, long length);
}
