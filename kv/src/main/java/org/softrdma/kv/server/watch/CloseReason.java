package org.softrdma.kv.server.watch;

/** Why a connection ended, in memcached's words. */
public enum CloseReason {
    /** The client sent what ends it, or the connection broke. */
    ERROR,
    /** The client left. */
    NORMAL,
    /** It said nothing for too long. */
    IDLE_TIMEOUT
}
