package org.softrdma.fabric.fault;

/**
 * A call of a program, by the name that verbs have for it: {@code ibv_reg_mr} is REG_MR. Those that make no system call, as
 * {@code ibv_post_recv} and {@code ibv_poll_cq}, cannot fail from outside the program.
 */
public enum Verb {
    OPEN_DEVICE,
    QUERY_DEVICE,
    QUERY_PORT,
    ALLOC_PD,
    DEALLOC_PD,
    CREATE_AH,
    DESTROY_AH,
    REG_MR,
    REREG_MR,
    DEREG_MR,
    ALLOC_MW,
    DEALLOC_MW,
    CREATE_COMP_CHANNEL,
    CREATE_CQ,
    RESIZE_CQ,
    DESTROY_CQ,
    REQ_NOTIFY_CQ,
    CREATE_QP,
    QUERY_QP,
    MODIFY_QP,
    DESTROY_QP,
    CREATE_SRQ,
    MODIFY_SRQ,
    QUERY_SRQ,
    DESTROY_SRQ,
    POST_SEND
}
