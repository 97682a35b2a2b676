package org.softrdma.verbs;

/** How a work request ended (C: {@code enum ibv_wc_status}); {@link #code()} is the C value. */
public enum CompletionStatus {
    /** It succeeded. */
    SUCCESS(0),
    /** A message was longer than the buffer or the limit (C: {@code LOC_LEN_ERR}). */
    LOCAL_LENGTH_ERROR(1),
    /** The queue pair could not execute the request (C: {@code LOC_QP_OP_ERR}). */
    LOCAL_QUEUE_PAIR_OPERATION_ERROR(2),
    /** A local key, range, right or domain was wrong (C: {@code LOC_PROT_ERR}). */
    LOCAL_PROTECTION_ERROR(4),
    /** The queue pair was in error, or went there first (C: {@code WR_FLUSH_ERR}). */
    FLUSHED(5),
    /** A memory window could not be bound (C: {@code MW_BIND_ERR}). */
    MEMORY_WINDOW_BIND_ERROR(6),
    /** The peer sent an unexpected response (C: {@code BAD_RESP_ERR}). */
    BAD_RESPONSE_ERROR(7),
    /** A peer's access to local memory failed (C: {@code LOC_ACCESS_ERR}). */
    LOCAL_ACCESS_ERROR(8),
    /** The peer found the request invalid: no room for it, or no such operation (C: {@code REM_INV_REQ_ERR}). */
    REMOTE_INVALID_REQUEST_ERROR(9),
    /** The peer refused the key, range, access right or domain (C: {@code REM_ACCESS_ERR}). */
    REMOTE_ACCESS_ERROR(10),
    /** The peer failed to complete the request (C: {@code REM_OP_ERR}). */
    REMOTE_OPERATION_ERROR(11),
    /** The peer did not answer (C: {@code RETRY_EXC_ERR}). */
    RETRY_EXCEEDED_ERROR(12),
    /** The peer had no RECV in time (C: {@code RNR_RETRY_EXC_ERR}). */
    RECEIVER_NOT_READY_RETRY_EXCEEDED_ERROR(13),
    /** The device failed (C: {@code FATAL_ERR}). */
    FATAL_ERROR(19),
    /** Any other error (C: {@code GENERAL_ERR}). */
    GENERAL_ERROR(21);

    private static final CompletionStatus[] BY_CODE = new CompletionStatus[32];

    static {
        for (CompletionStatus status : values()) {
            BY_CODE[status.code] = status;
        }
    }

    private final int code;

    CompletionStatus(int code) {
        this.code = code;
    }

    /** The value of {@code enum ibv_wc_status}. */
    public int code() {
        return code;
    }

    /**
     * The status of a C value; {@link #GENERAL_ERROR} for one that has no name here.
     *
     * @param code a value of {@code enum ibv_wc_status}
     */
    public static CompletionStatus ofCode(int code) {
        CompletionStatus status = code >= 0 && code < BY_CODE.length ? BY_CODE[code] : null;
        return status == null ? GENERAL_ERROR : status;
    }
}
