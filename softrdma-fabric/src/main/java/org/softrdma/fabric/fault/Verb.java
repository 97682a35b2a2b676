package org.softrdma.fabric.fault;

/**
 * A call of a program, by the name that verbs have for it: {@code ibv_reg_mr} is REG_MR, {@code rdma_connect} is RDMA_CONNECT. Those
 * that make no system call, as {@code ibv_post_recv} and {@code ibv_poll_cq}, cannot fail from outside the program.
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
    POST_SEND,
    RDMA_CREATE_ID,
    RDMA_DESTROY_ID,
    RDMA_BIND_ADDR,
    RDMA_RESOLVE_ADDR,
    RDMA_RESOLVE_ROUTE,
    /** No call of its own: librdmacm asks by it for addresses, in {@code rdma_bind_addr} for one. */
    RDMA_QUERY_ROUTE,
    RDMA_CONNECT,
    RDMA_LISTEN,
    RDMA_ACCEPT,
    RDMA_REJECT,
    RDMA_DISCONNECT,
    RDMA_INIT_QP_ATTR,
    RDMA_GET_CM_EVENT,
    RDMA_SET_OPTION,
    RDMA_NOTIFY,
    RDMA_MIGRATE_ID
}
