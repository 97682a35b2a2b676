package org.softrdma.verbs;

/** Why a queue pair has gone to ERROR, as far as its device tells this side; see {@link Feature#END_CAUSES}. */
public enum EndCause {
    /** It has not ended, or ended by something else, or the device does not tell. */
    UNKNOWN,
    /**
     * The peer used a key, range or right that it does not have, and this side's device refused the access (C: {@code
     * IBV_EVENT_QP_ACCESS_ERR}). The peer sees {@link CompletionStatus#REMOTE_ACCESS_ERROR}, where its device tells it.
     */
    PEER_ACCESS_ERROR
}
