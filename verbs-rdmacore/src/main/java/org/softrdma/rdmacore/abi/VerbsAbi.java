package org.softrdma.rdmacore.abi;

import static java.lang.foreign.MemoryLayout.PathElement.groupElement;
import static java.lang.foreign.MemoryLayout.paddingLayout;
import static java.lang.foreign.MemoryLayout.sequenceLayout;
import static java.lang.foreign.MemoryLayout.structLayout;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.ValueLayout;

/**
 * The structures of {@code infiniband/verbs.h} on LP64 Linux, with the offsets of the fields that are used. Native byte
 * order unless a field says otherwise; pointers have 8 bytes. Fields keep their C names, so that you can search for
 * them.
 */
public final class VerbsAbi {
    private static final ValueLayout.OfLong POINTER = JAVA_LONG;

    /** The operations that are called; other slots only take up space. */
    private static final GroupLayout CONTEXT_OPS = structLayout(
                    sequenceLayout(7, POINTER).withName("query_device_to_dereg_mr"),
                    POINTER.withName("alloc_mw"),
                    POINTER.withName("bind_mw"),
                    POINTER.withName("dealloc_mw"),
                    paddingLayout(8),
                    POINTER.withName("poll_cq"),
                    POINTER.withName("req_notify_cq"),
                    sequenceLayout(7, POINTER).withName("create_cq_to_query_srq"),
                    POINTER.withName("post_srq_recv"),
                    sequenceLayout(4, POINTER).withName("create_qp_to_destroy_qp"),
                    POINTER.withName("post_send"),
                    POINTER.withName("post_recv"),
                    sequenceLayout(5, POINTER).withName("create_ah_to_async_event"))
            .withName("ibv_context_ops");

    /** {@code struct ibv_context}; libibverbs and the driver write it. */
    public static final GroupLayout CONTEXT = structLayout(
                    POINTER.withName("device"),
                    CONTEXT_OPS.withName("ops"),
                    JAVA_INT.withName("cmd_fd"),
                    JAVA_INT.withName("async_fd"),
                    JAVA_INT.withName("num_comp_vectors"),
                    paddingLayout(4),
                    sequenceLayout(5, JAVA_LONG).withName("mutex"),
                    POINTER.withName("abi_compat"))
            .withName("ibv_context");

    /** Driver of the device. */
    public static final long CONTEXT_DEVICE = offset(CONTEXT, "device");
    /** Slot of {@code alloc_mw}; 0 in a driver without windows. */
    public static final long CONTEXT_ALLOC_MW = operation("alloc_mw");
    /** Slot of {@code dealloc_mw}; 0 in a driver without windows. */
    public static final long CONTEXT_DEALLOC_MW = operation("dealloc_mw");
    /** Slot of {@code post_srq_recv}; 0 in a driver without shared receive queues. */
    public static final long CONTEXT_POST_SRQ_RECV = operation("post_srq_recv");
    /** Slot of {@code poll_cq}. */
    public static final long CONTEXT_POLL_CQ = operation("poll_cq");
    /** Slot of {@code req_notify_cq}. */
    public static final long CONTEXT_REQ_NOTIFY_CQ = operation("req_notify_cq");
    /** Slot of {@code post_send}. */
    public static final long CONTEXT_POST_SEND = operation("post_send");
    /** Slot of {@code post_recv}. */
    public static final long CONTEXT_POST_RECV = operation("post_recv");
    /** Descriptor of the commands. */
    public static final long CONTEXT_CMD_FD = offset(CONTEXT, "cmd_fd");
    /** Descriptor of the asynchronous events. */
    public static final long CONTEXT_ASYNC_FD = offset(CONTEXT, "async_fd");
    /** Number of completion vectors. */
    public static final long CONTEXT_COMP_VECTORS = offset(CONTEXT, "num_comp_vectors");
    /** {@link #EXTENDED_ABI} in a context of libibverbs 1.1 and later. */
    public static final long CONTEXT_ABI_COMPAT = offset(CONTEXT, "abi_compat");
    /** All ones. */
    public static final long EXTENDED_ABI = -1;
    /** {@code sz} of the {@code struct verbs_context} that ends with the context. */
    public static final long CONTEXT_EXTENDED_SIZE = -8;
    /** The smallest {@code sz} with everything that is used. */
    public static final long LEAST_EXTENDED_SIZE = CONTEXT.byteSize() + 8;

    /** {@code struct ibv_device}, as far as {@code name}. */
    public static final GroupLayout DEVICE = structLayout(
                    sequenceLayout(2, POINTER).withName("_ops"),
                    JAVA_INT.withName("node_type"),
                    JAVA_INT.withName("transport_type"),
                    sequenceLayout(64, JAVA_BYTE).withName("name"))
            .withName("ibv_device");

    /** {@link #TRANSPORT_INFINIBAND} (RoCE too) or {@link #TRANSPORT_IWARP}. */
    public static final long DEVICE_TRANSPORT = offset(DEVICE, "transport_type");
    /** Name, a C string. */
    public static final long DEVICE_NAME = offset(DEVICE, "name");
    /** Bytes of a device's name. */
    public static final int DEVICE_NAME_BYTES = 64;
    /** {@code IBV_TRANSPORT_IB}. */
    public static final int TRANSPORT_INFINIBAND = 0;
    /** {@code IBV_TRANSPORT_IWARP}. */
    public static final int TRANSPORT_IWARP = 1;

    /** {@code struct ibv_device_attr}. */
    public static final GroupLayout DEVICE_ATTRIBUTES = structLayout(
                    sequenceLayout(64, JAVA_BYTE).withName("fw_ver"),
                    JAVA_LONG.withName("node_guid"),
                    JAVA_LONG.withName("sys_image_guid"),
                    JAVA_LONG.withName("max_mr_size"),
                    JAVA_LONG.withName("page_size_cap"),
                    JAVA_INT.withName("vendor_id"),
                    JAVA_INT.withName("vendor_part_id"),
                    JAVA_INT.withName("hw_ver"),
                    JAVA_INT.withName("max_qp"),
                    JAVA_INT.withName("max_qp_wr"),
                    JAVA_INT.withName("device_cap_flags"),
                    JAVA_INT.withName("max_sge"),
                    JAVA_INT.withName("max_sge_rd"),
                    JAVA_INT.withName("max_cq"),
                    JAVA_INT.withName("max_cqe"),
                    JAVA_INT.withName("max_mr"),
                    JAVA_INT.withName("max_pd"),
                    JAVA_INT.withName("max_qp_rd_atom"),
                    JAVA_INT.withName("max_ee_rd_atom"),
                    JAVA_INT.withName("max_res_rd_atom"),
                    JAVA_INT.withName("max_qp_init_rd_atom"),
                    JAVA_INT.withName("max_ee_init_rd_atom"),
                    JAVA_INT.withName("atomic_cap"),
                    sequenceLayout(2, JAVA_INT).withName("max_ee_to_max_rdd"),
                    JAVA_INT.withName("max_mw"),
                    sequenceLayout(5, JAVA_INT).withName("max_raw_ipv6_qp_to_max_total_mcast_qp_attach"),
                    JAVA_INT.withName("max_ah"),
                    sequenceLayout(2, JAVA_INT).withName("max_fmr_to_max_map_per_fmr"),
                    JAVA_INT.withName("max_srq"),
                    JAVA_INT.withName("max_srq_wr"),
                    JAVA_INT.withName("max_srq_sge"),
                    sequenceLayout(2, JAVA_INT).withName("max_pkeys_to_phys_port_cnt"))
            .withName("ibv_device_attr");

    /** Most bytes of a region. */
    public static final long MAX_MR_SIZE = offset(DEVICE_ATTRIBUTES, "max_mr_size");
    /** Maker of the device. */
    public static final long VENDOR_ID = offset(DEVICE_ATTRIBUTES, "vendor_id");
    /** Most work requests of a queue. */
    public static final long MAX_QP_WR = offset(DEVICE_ATTRIBUTES, "max_qp_wr");
    /** Most entries of a work request. */
    public static final long MAX_SGE = offset(DEVICE_ATTRIBUTES, "max_sge");
    /** Most entries of a READ. */
    public static final long MAX_SGE_RD = offset(DEVICE_ATTRIBUTES, "max_sge_rd");
    /** Most entries of a completion queue. */
    public static final long MAX_CQE = offset(DEVICE_ATTRIBUTES, "max_cqe");
    /** Most regions. */
    public static final long MAX_MR = offset(DEVICE_ATTRIBUTES, "max_mr");
    /** Most READs that a queue pair answers at once. */
    public static final long MAX_QP_RD_ATOM = offset(DEVICE_ATTRIBUTES, "max_qp_rd_atom");
    /** Most READs that a queue pair has in flight. */
    public static final long MAX_QP_INIT_RD_ATOM = offset(DEVICE_ATTRIBUTES, "max_qp_init_rd_atom");

    /** {@code enum ibv_device_cap_flags}. */
    public static final long DEVICE_CAPABILITIES = offset(DEVICE_ATTRIBUTES, "device_cap_flags");
    /** {@code IBV_DEVICE_MEM_MGT_EXTENSIONS}: SEND with invalidate, among others. */
    public static final int CAPABLE_OF_MEMORY_MANAGEMENT = 1 << 21;
    /** {@code IBV_DEVICE_MEM_WINDOW_TYPE_2A}, {@code IBV_DEVICE_MEM_WINDOW_TYPE_2B}. */
    public static final int CAPABLE_OF_WINDOWS_OF_TYPE_2 = 1 << 23 | 1 << 24;
    /** {@code enum ibv_atomic_cap}. */
    public static final long ATOMIC_CAPABILITY = offset(DEVICE_ATTRIBUTES, "atomic_cap");
    /** {@code IBV_ATOMIC_HCA}: atomic among requests of the device. */
    public static final int ATOMIC_IN_DEVICE = 1;
    /** {@code IBV_ATOMIC_GLOB}: atomic with everybody. */
    public static final int ATOMIC_GLOBALLY = 2;
    /** Most windows. */
    public static final long MAX_MW = offset(DEVICE_ATTRIBUTES, "max_mw");
    /** Most address handles. */
    public static final long MAX_AH = offset(DEVICE_ATTRIBUTES, "max_ah");
    /** Most shared receive queues. */
    public static final long MAX_SRQ = offset(DEVICE_ATTRIBUTES, "max_srq");
    /** Most RECVs of a shared receive queue. */
    public static final long MAX_SRQ_WR = offset(DEVICE_ATTRIBUTES, "max_srq_wr");
    /** Most entries of a RECV of a shared receive queue. */
    public static final long MAX_SRQ_SGE = offset(DEVICE_ATTRIBUTES, "max_srq_sge");

    /** {@code struct ibv_port_attr}, the part that the exported {@code ibv_query_port} fills. */
    public static final GroupLayout PORT_ATTRIBUTES = structLayout(
                    JAVA_INT.withName("state"),
                    JAVA_INT.withName("max_mtu"),
                    JAVA_INT.withName("active_mtu"),
                    JAVA_INT.withName("gid_tbl_len"),
                    JAVA_INT.withName("port_cap_flags"),
                    JAVA_INT.withName("max_msg_sz"),
                    JAVA_INT.withName("bad_pkey_cntr"),
                    JAVA_INT.withName("qkey_viol_cntr"),
                    JAVA_SHORT.withName("pkey_tbl_len"),
                    JAVA_SHORT.withName("lid"),
                    JAVA_SHORT.withName("sm_lid"),
                    sequenceLayout(8, JAVA_BYTE).withName("lmc_to_phys_state"),
                    JAVA_BYTE.withName("link_layer"),
                    JAVA_BYTE.withName("flags"),
                    JAVA_SHORT.withName("port_cap_flags2"),
                    paddingLayout(2))
            .withName("ibv_port_attr");

    /** {@code enum ibv_mtu}: 1 for 256 bytes, one more for twice as many. */
    public static final long ACTIVE_MTU = offset(PORT_ATTRIBUTES, "active_mtu");
    /** Length of the port's table of GIDs. */
    public static final long GID_TABLE_LENGTH = offset(PORT_ATTRIBUTES, "gid_tbl_len");
    /** Most bytes of a message, unsigned. */
    public static final long MAX_MSG_SZ = offset(PORT_ATTRIBUTES, "max_msg_sz");
    /** {@link #LINK_LAYER_ETHERNET} or another. */
    public static final long LINK_LAYER = offset(PORT_ATTRIBUTES, "link_layer");
    /** {@code IBV_LINK_LAYER_ETHERNET}. */
    public static final int LINK_LAYER_ETHERNET = 2;

    /** {@code struct ibv_pd}. */
    public static final GroupLayout DOMAIN = structLayout(
                    POINTER.withName("context"), JAVA_INT.withName("handle"), paddingLayout(4))
            .withName("ibv_pd");

    /** Its context. */
    public static final long DOMAIN_CONTEXT = offset(DOMAIN, "context");

    /** {@code struct ibv_mr}. */
    public static final GroupLayout REGION = structLayout(
                    POINTER.withName("context"),
                    POINTER.withName("pd"),
                    POINTER.withName("addr"),
                    JAVA_LONG.withName("length"),
                    JAVA_INT.withName("handle"),
                    JAVA_INT.withName("lkey"),
                    JAVA_INT.withName("rkey"),
                    paddingLayout(4))
            .withName("ibv_mr");

    /** Its domain. */
    public static final long REGION_DOMAIN = offset(REGION, "pd");
    /** Its memory. */
    public static final long REGION_ADDRESS = offset(REGION, "addr");
    /** Its bytes. */
    public static final long REGION_LENGTH = offset(REGION, "length");
    /** Local key. */
    public static final long REGION_LKEY = offset(REGION, "lkey");
    /** Remote key. */
    public static final long REGION_RKEY = offset(REGION, "rkey");

    /** {@code IBV_REREG_MR_CHANGE_TRANSLATION}. */
    public static final int CHANGE_MEMORY = 1;
    /** {@code IBV_REREG_MR_CHANGE_PD}. */
    public static final int CHANGE_DOMAIN = 1 << 1;
    /** {@code IBV_REREG_MR_CHANGE_ACCESS}. */
    public static final int CHANGE_ACCESS = 1 << 2;

    /** {@code struct ibv_mw}. */
    public static final GroupLayout WINDOW = structLayout(
                    POINTER.withName("context"),
                    POINTER.withName("pd"),
                    JAVA_INT.withName("rkey"),
                    JAVA_INT.withName("handle"),
                    JAVA_INT.withName("type"),
                    paddingLayout(4))
            .withName("ibv_mw");

    /** Its domain. */
    public static final long WINDOW_DOMAIN = offset(WINDOW, "pd");
    /** Its key; the application writes it when it binds a window of type 2. */
    public static final long WINDOW_RKEY = offset(WINDOW, "rkey");
    /** Its type. */
    public static final long WINDOW_TYPE = offset(WINDOW, "type");
    /** {@code IBV_MW_TYPE_2}. */
    public static final int TYPE_2 = 2;

    /** {@code struct ibv_comp_channel}. */
    public static final GroupLayout COMPLETION_CHANNEL = structLayout(
                    POINTER.withName("context"), JAVA_INT.withName("fd"), JAVA_INT.withName("refcnt"))
            .withName("ibv_comp_channel");

    /** Its descriptor. */
    public static final long COMPLETION_CHANNEL_FD = offset(COMPLETION_CHANNEL, "fd");

    /** {@code struct ibv_cq}, as far as {@code cqe}. */
    public static final GroupLayout COMPLETION_QUEUE = structLayout(
                    POINTER.withName("context"),
                    POINTER.withName("channel"),
                    POINTER.withName("cq_context"),
                    JAVA_INT.withName("handle"),
                    JAVA_INT.withName("cqe"))
            .withName("ibv_cq");

    /** Its context. */
    public static final long COMPLETION_QUEUE_CONTEXT = offset(COMPLETION_QUEUE, "context");
    /** What it was created with. */
    public static final long COMPLETION_QUEUE_COOKIE = offset(COMPLETION_QUEUE, "cq_context");
    /** Entries. */
    public static final long COMPLETION_QUEUE_ENTRIES = offset(COMPLETION_QUEUE, "cqe");

    /** {@code struct ibv_srq}, as far as {@code handle}. */
    public static final GroupLayout SHARED_QUEUE = structLayout(
                    POINTER.withName("context"),
                    POINTER.withName("srq_context"),
                    POINTER.withName("pd"),
                    JAVA_INT.withName("handle"),
                    paddingLayout(4))
            .withName("ibv_srq");

    /** Its domain. */
    public static final long SHARED_QUEUE_DOMAIN = offset(SHARED_QUEUE, "pd");

    /** {@code struct ibv_srq_attr}; {@code ibv_modify_srq} reads it. */
    public static final GroupLayout SHARED_QUEUE_ATTRIBUTES = structLayout(
                    JAVA_INT.withName("max_wr"), JAVA_INT.withName("max_sge"), JAVA_INT.withName("srq_limit"))
            .withName("ibv_srq_attr");

    /** Limit. */
    public static final long SHARED_QUEUE_LIMIT = offset(SHARED_QUEUE_ATTRIBUTES, "srq_limit");
    /** {@code IBV_SRQ_LIMIT}. */
    public static final int MODIFY_LIMIT = 1 << 1;

    /** {@code struct ibv_srq_init_attr}; the driver writes the sizes granted. */
    public static final GroupLayout SHARED_QUEUE_INIT = structLayout(
                    POINTER.withName("srq_context"), SHARED_QUEUE_ATTRIBUTES.withName("attr"), paddingLayout(4))
            .withName("ibv_srq_init_attr");

    /** RECVs. */
    public static final long SHARED_INIT_MAX_RECEIVE = offset(SHARED_QUEUE_INIT, "attr", "max_wr");
    /** Entries of a RECV. */
    public static final long SHARED_INIT_MAX_SGE = offset(SHARED_QUEUE_INIT, "attr", "max_sge");

    /** {@code struct ibv_qp}, as far as {@code qp_type}. */
    public static final GroupLayout QUEUE_PAIR = structLayout(
                    POINTER.withName("context"),
                    POINTER.withName("qp_context"),
                    POINTER.withName("pd"),
                    POINTER.withName("send_cq"),
                    POINTER.withName("recv_cq"),
                    POINTER.withName("srq"),
                    JAVA_INT.withName("handle"),
                    JAVA_INT.withName("qp_num"),
                    JAVA_INT.withName("state"),
                    JAVA_INT.withName("qp_type"))
            .withName("ibv_qp");

    /** Its domain. */
    public static final long QUEUE_PAIR_DOMAIN = offset(QUEUE_PAIR, "pd");
    /** Its completion queue for sends. */
    public static final long QUEUE_PAIR_SEND_QUEUE = offset(QUEUE_PAIR, "send_cq");
    /** Its completion queue for RECVs. */
    public static final long QUEUE_PAIR_RECEIVE_QUEUE = offset(QUEUE_PAIR, "recv_cq");
    /** Its shared receive queue, or 0. */
    public static final long QUEUE_PAIR_SHARED_QUEUE = offset(QUEUE_PAIR, "srq");
    /** Its number. */
    public static final long QUEUE_PAIR_NUMBER = offset(QUEUE_PAIR, "qp_num");
    /** {@link #RELIABLE_CONNECTION}, {@link #UNRELIABLE_CONNECTION} or {@link #UNRELIABLE_DATAGRAM}. */
    public static final long QUEUE_PAIR_TYPE = offset(QUEUE_PAIR, "qp_type");
    /** {@code IBV_QPT_RC}. */
    public static final int RELIABLE_CONNECTION = 2;
    /** {@code IBV_QPT_UC}. */
    public static final int UNRELIABLE_CONNECTION = 3;
    /** {@code IBV_QPT_UD}. */
    public static final int UNRELIABLE_DATAGRAM = 4;

    /** {@code struct ibv_qp_init_attr}; the driver writes the sizes granted. */
    public static final GroupLayout QUEUE_PAIR_INIT = structLayout(
                    POINTER.withName("qp_context"),
                    POINTER.withName("send_cq"),
                    POINTER.withName("recv_cq"),
                    POINTER.withName("srq"),
                    JAVA_INT.withName("max_send_wr"),
                    JAVA_INT.withName("max_recv_wr"),
                    JAVA_INT.withName("max_send_sge"),
                    JAVA_INT.withName("max_recv_sge"),
                    JAVA_INT.withName("max_inline_data"),
                    JAVA_INT.withName("qp_type"),
                    JAVA_INT.withName("sq_sig_all"),
                    paddingLayout(4))
            .withName("ibv_qp_init_attr");

    /** Completion queue for sends. */
    public static final long INIT_SEND_QUEUE = offset(QUEUE_PAIR_INIT, "send_cq");
    /** Completion queue for RECVs. */
    public static final long INIT_RECEIVE_QUEUE = offset(QUEUE_PAIR_INIT, "recv_cq");
    /** Shared receive queue, or 0. */
    public static final long INIT_SHARED_QUEUE = offset(QUEUE_PAIR_INIT, "srq");
    /** Sends outstanding. */
    public static final long INIT_MAX_SEND = offset(QUEUE_PAIR_INIT, "max_send_wr");
    /** RECVs outstanding. */
    public static final long INIT_MAX_RECEIVE = offset(QUEUE_PAIR_INIT, "max_recv_wr");
    /** Entries of a send. */
    public static final long INIT_MAX_SEND_SGE = offset(QUEUE_PAIR_INIT, "max_send_sge");
    /** Entries of a RECV. */
    public static final long INIT_MAX_RECEIVE_SGE = offset(QUEUE_PAIR_INIT, "max_recv_sge");
    /** Inline bytes. */
    public static final long INIT_MAX_INLINE = offset(QUEUE_PAIR_INIT, "max_inline_data");
    /** Type. */
    public static final long INIT_TYPE = offset(QUEUE_PAIR_INIT, "qp_type");

    /** Bytes of {@code union ibv_gid}: an address of IPv6, or one of IPv4 mapped into it; network byte order. */
    public static final int GID_BYTES = 16;

    /** {@code struct ibv_ah_attr}, with its {@code struct ibv_global_route}; libibverbs reads it. */
    public static final GroupLayout ADDRESS_HANDLE_ATTRIBUTES = structLayout(
                    sequenceLayout(2, JAVA_LONG).withName("dgid"),
                    JAVA_INT.withName("flow_label"),
                    JAVA_BYTE.withName("sgid_index"),
                    JAVA_BYTE.withName("hop_limit"),
                    JAVA_BYTE.withName("traffic_class"),
                    paddingLayout(1),
                    JAVA_SHORT.withName("dlid"),
                    JAVA_BYTE.withName("sl"),
                    JAVA_BYTE.withName("src_path_bits"),
                    JAVA_BYTE.withName("static_rate"),
                    JAVA_BYTE.withName("is_global"),
                    JAVA_BYTE.withName("port_num"),
                    paddingLayout(1))
            .withName("ibv_ah_attr");

    /** GID of the peer's port. */
    public static final long HANDLE_GID = offset(ADDRESS_HANDLE_ATTRIBUTES, "dgid");
    /** Index of the GID of this side. */
    public static final long HANDLE_OWN_GID_INDEX = offset(ADDRESS_HANDLE_ATTRIBUTES, "sgid_index");
    /** Hops that a packet may take. */
    public static final long HANDLE_HOP_LIMIT = offset(ADDRESS_HANDLE_ATTRIBUTES, "hop_limit");
    /** 1: packets have a routing header, as on Ethernet they must. */
    public static final long HANDLE_IS_GLOBAL = offset(ADDRESS_HANDLE_ATTRIBUTES, "is_global");
    /** Number of the port of this side. */
    public static final long HANDLE_PORT = offset(ADDRESS_HANDLE_ATTRIBUTES, "port_num");

    /** {@code struct ibv_qp_attr}; libibverbs reads what a mask names. */
    public static final GroupLayout QUEUE_PAIR_ATTRIBUTES = structLayout(
                    JAVA_INT.withName("qp_state"),
                    JAVA_INT.withName("cur_qp_state"),
                    JAVA_INT.withName("path_mtu"),
                    JAVA_INT.withName("path_mig_state"),
                    JAVA_INT.withName("qkey"),
                    JAVA_INT.withName("rq_psn"),
                    JAVA_INT.withName("sq_psn"),
                    JAVA_INT.withName("dest_qp_num"),
                    JAVA_INT.withName("qp_access_flags"),
                    sequenceLayout(5, JAVA_INT).withName("cap"),
                    ADDRESS_HANDLE_ATTRIBUTES.withName("ah_attr"),
                    ADDRESS_HANDLE_ATTRIBUTES.withName("alt_ah_attr"),
                    JAVA_SHORT.withName("pkey_index"),
                    JAVA_SHORT.withName("alt_pkey_index"),
                    JAVA_BYTE.withName("en_sqd_async_notify"),
                    JAVA_BYTE.withName("sq_draining"),
                    JAVA_BYTE.withName("max_rd_atomic"),
                    JAVA_BYTE.withName("max_dest_rd_atomic"),
                    JAVA_BYTE.withName("min_rnr_timer"),
                    JAVA_BYTE.withName("port_num"),
                    JAVA_BYTE.withName("timeout"),
                    JAVA_BYTE.withName("retry_cnt"),
                    JAVA_BYTE.withName("rnr_retry"),
                    JAVA_BYTE.withName("alt_port_num"),
                    JAVA_BYTE.withName("alt_timeout"),
                    paddingLayout(1),
                    JAVA_INT.withName("rate_limit"),
                    paddingLayout(4))
            .withName("ibv_qp_attr");

    /** State to move to, one of {@code enum ibv_qp_state}. */
    public static final long MODIFY_QP_STATE = offset(QUEUE_PAIR_ATTRIBUTES, "qp_state");
    /** {@code enum ibv_mtu}. */
    public static final long MODIFY_PATH_MTU = offset(QUEUE_PAIR_ATTRIBUTES, "path_mtu");
    /** Key of datagrams. */
    public static final long MODIFY_QKEY = offset(QUEUE_PAIR_ATTRIBUTES, "qkey");
    /** Number of the peer's first packet. */
    public static final long MODIFY_RQ_PSN = offset(QUEUE_PAIR_ATTRIBUTES, "rq_psn");
    /** Number of the first packet of this side. */
    public static final long MODIFY_SQ_PSN = offset(QUEUE_PAIR_ATTRIBUTES, "sq_psn");
    /** The peer's queue pair. */
    public static final long MODIFY_DEST_QPN = offset(QUEUE_PAIR_ATTRIBUTES, "dest_qp_num");
    /** What the peer may do at all. */
    public static final long MODIFY_ACCESS = offset(QUEUE_PAIR_ATTRIBUTES, "qp_access_flags");
    /** The peer's host, as an {@code ibv_ah_attr}. */
    public static final long MODIFY_AV = offset(QUEUE_PAIR_ATTRIBUTES, "ah_attr");
    /** READs in flight from this side. */
    public static final long MODIFY_MAX_RD_ATOMIC = offset(QUEUE_PAIR_ATTRIBUTES, "max_rd_atomic");
    /** READs in flight from the peer. */
    public static final long MODIFY_MAX_DEST_RD_ATOMIC = offset(QUEUE_PAIR_ATTRIBUTES, "max_dest_rd_atomic");
    /** How long the peer waits for a RECV of this side, a code. */
    public static final long MODIFY_MIN_RNR_TIMER = offset(QUEUE_PAIR_ATTRIBUTES, "min_rnr_timer");
    /** 1 for an event once a queue pair in SQD is drained. */
    public static final long MODIFY_TELLS_DRAINED = offset(QUEUE_PAIR_ATTRIBUTES, "en_sqd_async_notify");
    /** Number of the port. */
    public static final long MODIFY_PORT = offset(QUEUE_PAIR_ATTRIBUTES, "port_num");
    /** 4.096 us shifted left by this. */
    public static final long MODIFY_TIMEOUT = offset(QUEUE_PAIR_ATTRIBUTES, "timeout");
    /** How often to retry reaching a silent peer. */
    public static final long MODIFY_RETRY_CNT = offset(QUEUE_PAIR_ATTRIBUTES, "retry_cnt");
    /** How often to retry reaching a peer without a RECV. */
    public static final long MODIFY_RNR_RETRY = offset(QUEUE_PAIR_ATTRIBUTES, "rnr_retry");

    /** {@code IBV_QP_STATE}. */
    public static final int MODIFY_STATE = 1;

    private static final int IBV_QP_EN_SQD_ASYNC_NOTIFY = 1 << 2;
    private static final int IBV_QP_ACCESS_FLAGS = 1 << 3;
    private static final int IBV_QP_PKEY_INDEX = 1 << 4;
    private static final int IBV_QP_PORT = 1 << 5;
    private static final int IBV_QP_QKEY = 1 << 6;
    private static final int IBV_QP_AV = 1 << 7;
    private static final int IBV_QP_PATH_MTU = 1 << 8;
    private static final int IBV_QP_TIMEOUT = 1 << 9;
    private static final int IBV_QP_RETRY_CNT = 1 << 10;
    private static final int IBV_QP_RNR_RETRY = 1 << 11;
    private static final int IBV_QP_RQ_PSN = 1 << 12;
    private static final int IBV_QP_MAX_QP_RD_ATOMIC = 1 << 13;
    private static final int IBV_QP_MIN_RNR_TIMER = 1 << 15;
    private static final int IBV_QP_SQ_PSN = 1 << 16;
    private static final int IBV_QP_MAX_DEST_RD_ATOMIC = 1 << 17;
    private static final int IBV_QP_DEST_QPN = 1 << 20;

    /** What moves a connection to INIT, besides the state; ibv_modify_qp(3). */
    public static final int CONNECTION_TO_INIT = MODIFY_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
    /** What moves a queue pair of datagrams to INIT. */
    public static final int DATAGRAM_TO_INIT = MODIFY_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
    /** What moves an unreliable connection to RTR; datagrams need the state only. */
    public static final int UNRELIABLE_TO_RTR =
            MODIFY_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
    /** What moves a reliable connection to RTR. */
    public static final int RELIABLE_TO_RTR = UNRELIABLE_TO_RTR | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    /** What moves an unreliable connection or a queue pair of datagrams to RTS. */
    public static final int UNRELIABLE_TO_RTS = MODIFY_STATE | IBV_QP_SQ_PSN;
    /** What moves a reliable connection to RTS. */
    public static final int RELIABLE_TO_RTS =
            UNRELIABLE_TO_RTS | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
    /** What changes the rights of a peer. */
    public static final int ACCESS_ONLY = IBV_QP_ACCESS_FLAGS;
    /** What moves a queue pair to SQD: with an event at the end. */
    public static final int TO_DRAIN = MODIFY_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY;
    /** What can be changed of a reliable connection in SQD. */
    public static final int RELIABLE_IN_DRAIN =
            IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
    /** {@code IBV_QPS_RESET}. */
    public static final int STATE_RESET = 0;
    /** {@code IBV_QPS_INIT}. */
    public static final int STATE_INIT = 1;
    /** {@code IBV_QPS_RTR}. */
    public static final int STATE_READY_TO_RECEIVE = 2;
    /** {@code IBV_QPS_RTS}. */
    public static final int STATE_READY_TO_SEND = 3;
    /** {@code IBV_QPS_SQD}. */
    public static final int STATE_DRAIN = 4;
    /** {@code IBV_QPS_ERR}. */
    public static final int STATE_ERROR = 6;

    /** {@code struct ibv_async_event}; libibverbs writes it. */
    public static final GroupLayout ASYNC_EVENT = structLayout(
                    JAVA_LONG.withName("element"), JAVA_INT.withName("event_type"), paddingLayout(4))
            .withName("ibv_async_event");

    /** A pointer to the queue pair, completion queue or shared receive queue, or the number of the port, an int. */
    public static final long ASYNC_EVENT_ELEMENT = offset(ASYNC_EVENT, "element");
    /** One of the {@code EVENT_} numbers of {@code enum ibv_event_type}. */
    public static final long ASYNC_EVENT_TYPE = offset(ASYNC_EVENT, "event_type");
    /** {@code IBV_EVENT_CQ_ERR}. */
    public static final int EVENT_CQ_ERR = 0;
    /** {@code IBV_EVENT_QP_FATAL}. */
    public static final int EVENT_QP_FATAL = 1;
    /** {@code IBV_EVENT_QP_REQ_ERR}. */
    public static final int EVENT_QP_REQ_ERR = 2;
    /** {@code IBV_EVENT_QP_ACCESS_ERR}. */
    public static final int EVENT_QP_ACCESS_ERR = 3;
    /** {@code IBV_EVENT_SQ_DRAINED}. */
    public static final int EVENT_SQ_DRAINED = 5;
    /** {@code IBV_EVENT_DEVICE_FATAL}. */
    public static final int EVENT_DEVICE_FATAL = 8;
    /** {@code IBV_EVENT_PORT_ACTIVE}. */
    public static final int EVENT_PORT_ACTIVE = 9;
    /** {@code IBV_EVENT_PORT_ERR}. */
    public static final int EVENT_PORT_ERR = 10;
    /** {@code IBV_EVENT_SRQ_ERR}. */
    public static final int EVENT_SRQ_ERR = 14;
    /** {@code IBV_EVENT_SRQ_LIMIT_REACHED}. */
    public static final int EVENT_SRQ_LIMIT_REACHED = 15;
    /** {@code IBV_EVENT_QP_LAST_WQE_REACHED}. */
    public static final int EVENT_QP_LAST_WQE_REACHED = 16;

    private VerbsAbi() {}

    static long offset(GroupLayout struct, String... path) {
        PathElement[] elements = new PathElement[path.length];
        for (int i = 0; i < path.length; i++) {
            elements[i] = groupElement(path[i]);
        }
        return struct.byteOffset(elements);
    }

    private static long operation(String name) {
        return CONTEXT.byteOffset(groupElement("ops"), groupElement(name));
    }
}
