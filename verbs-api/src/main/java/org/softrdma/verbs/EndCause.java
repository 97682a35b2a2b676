package org.softrdma.verbs;

/** Why a queue pair went to ERROR, as far as its device reports it ({@link Feature#END_CAUSES}). */
public enum EndCause {
    /** It has not ended, it ended for another reason, or the device does not report the cause. */
    UNKNOWN,
    /**
     * The peer used a wrong key, range or access right, and this side's device refused the access (C:
     * {@code IBV_EVENT_QP_ACCESS_ERR}). The peer gets {@link CompletionStatus#REMOTE_ACCESS_ERROR} if its device
     * reports such errors.
     */
    PEER_ACCESS_ERROR
}
