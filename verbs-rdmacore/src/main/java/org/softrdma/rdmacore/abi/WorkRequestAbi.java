package org.softrdma.rdmacore.abi;

import static java.lang.foreign.MemoryLayout.paddingLayout;
import static java.lang.foreign.MemoryLayout.structLayout;
import static java.lang.foreign.MemoryLayout.unionLayout;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.GroupLayout;
import java.lang.foreign.ValueLayout;

/** The structures of the data path: work requests, their entries, and completions. As {@link VerbsAbi} else. */
public final class WorkRequestAbi {
    private static final ValueLayout.OfLong POINTER = JAVA_LONG;

    /** {@code struct ibv_sge}; the application writes it, the driver reads it at the post. */
    public static final GroupLayout ENTRY = structLayout(
                    JAVA_LONG.withName("addr"), JAVA_INT.withName("length"), JAVA_INT.withName("lkey"))
            .withName("ibv_sge");

    /** Address. */
    public static final long ENTRY_ADDRESS = VerbsAbi.offset(ENTRY, "addr");
    /** Bytes, unsigned. */
    public static final long ENTRY_LENGTH = VerbsAbi.offset(ENTRY, "length");
    /** Local key. */
    public static final long ENTRY_LKEY = VerbsAbi.offset(ENTRY, "lkey");
    /** Bytes of an entry. */
    public static final long ENTRY_BYTES = ENTRY.byteSize();

    private static final GroupLayout RDMA = structLayout(
                    JAVA_LONG.withName("remote_addr"), JAVA_INT.withName("rkey"), paddingLayout(4))
            .withName("rdma");

    private static final GroupLayout ATOMIC = structLayout(
                    JAVA_LONG.withName("remote_addr"),
                    JAVA_LONG.withName("compare_add"),
                    JAVA_LONG.withName("swap"),
                    JAVA_INT.withName("rkey"),
                    paddingLayout(4))
            .withName("atomic");

    private static final GroupLayout DATAGRAM = structLayout(
                    POINTER.withName("ah"), JAVA_INT.withName("remote_qpn"), JAVA_INT.withName("remote_qkey"))
            .withName("ud");

    /** Ends with its {@code struct ibv_mw_bind_info}. */
    private static final GroupLayout BIND = structLayout(
                    POINTER.withName("mw"),
                    JAVA_INT.withName("rkey"),
                    paddingLayout(4),
                    POINTER.withName("mr"),
                    JAVA_LONG.withName("addr"),
                    JAVA_LONG.withName("length"),
                    JAVA_INT.withName("mw_access_flags"),
                    paddingLayout(4))
            .withName("bind_mw");

    /** {@code struct ibv_send_wr}, its arms for READ and WRITE, for atomics, for datagrams, and for binds. */
    public static final GroupLayout SEND = structLayout(
                    JAVA_LONG.withName("wr_id"),
                    POINTER.withName("next"),
                    POINTER.withName("sg_list"),
                    JAVA_INT.withName("num_sge"),
                    JAVA_INT.withName("opcode"),
                    JAVA_INT.withName("send_flags"),
                    JAVA_INT.withName("imm_data"),
                    unionLayout(RDMA, ATOMIC, DATAGRAM).withName("wr"),
                    JAVA_LONG.withName("qp_type"),
                    BIND)
            .withName("ibv_send_wr");

    /** Returned with the completion. */
    public static final long SEND_WR_ID = VerbsAbi.offset(SEND, "wr_id");
    /** Next of the chain. */
    public static final long SEND_NEXT = VerbsAbi.offset(SEND, "next");
    /** Local entries. */
    public static final long SEND_ENTRIES = VerbsAbi.offset(SEND, "sg_list");
    /** Number of entries. */
    public static final long SEND_ENTRY_COUNT = VerbsAbi.offset(SEND, "num_sge");
    /** One of the {@code OPCODE_} constants. */
    public static final long SEND_OPCODE = VerbsAbi.offset(SEND, "opcode");
    /** {@code IBV_SEND_*}. */
    public static final long SEND_FLAGS = VerbsAbi.offset(SEND, "send_flags");
    /** The immediate, big endian; or the key that is taken back, in the byte order of this machine. */
    public static final long SEND_IMMEDIATE = VerbsAbi.offset(SEND, "imm_data");
    /** First address at the peer, of READ, WRITE and atomics. */
    public static final long SEND_REMOTE_ADDRESS = VerbsAbi.offset(SEND, "wr", "rdma", "remote_addr");
    /** The peer's key of READ and WRITE. */
    public static final long SEND_RKEY = VerbsAbi.offset(SEND, "wr", "rdma", "rkey");
    /** What an atomic expects or adds. */
    public static final long SEND_COMPARE_ADD = VerbsAbi.offset(SEND, "wr", "atomic", "compare_add");
    /** What a compare-and-swap puts in its place. */
    public static final long SEND_SWAP = VerbsAbi.offset(SEND, "wr", "atomic", "swap");
    /** The peer's key of an atomic. */
    public static final long SEND_ATOMIC_RKEY = VerbsAbi.offset(SEND, "wr", "atomic", "rkey");
    /** The address handle of a datagram. */
    public static final long SEND_HANDLE = VerbsAbi.offset(SEND, "wr", "ud", "ah");
    /** The queue pair that a datagram goes to. */
    public static final long SEND_REMOTE_NUMBER = VerbsAbi.offset(SEND, "wr", "ud", "remote_qpn");
    /** The key of a datagram. */
    public static final long SEND_QUEUE_KEY = VerbsAbi.offset(SEND, "wr", "ud", "remote_qkey");
    /** The window of a bind. */
    public static final long SEND_WINDOW = VerbsAbi.offset(SEND, "bind_mw", "mw");
    /** The key that the window gets. */
    public static final long SEND_WINDOW_RKEY = VerbsAbi.offset(SEND, "bind_mw", "rkey");
    /** The region that the window is bound to. */
    public static final long SEND_WINDOW_REGION = VerbsAbi.offset(SEND, "bind_mw", "mr");
    /** First address of the part. */
    public static final long SEND_WINDOW_ADDRESS = VerbsAbi.offset(SEND, "bind_mw", "addr");
    /** Bytes of the part. */
    public static final long SEND_WINDOW_LENGTH = VerbsAbi.offset(SEND, "bind_mw", "length");
    /** Rights of the window. */
    public static final long SEND_WINDOW_ACCESS = VerbsAbi.offset(SEND, "bind_mw", "mw_access_flags");
    /** Bytes of a send work request. */
    public static final long SEND_BYTES = SEND.byteSize();
    /** {@code IBV_WR_RDMA_WRITE}. */
    public static final int OPCODE_WRITE = 0;
    /** {@code IBV_WR_RDMA_WRITE_WITH_IMM}. */
    public static final int OPCODE_WRITE_IMMEDIATE = 1;
    /** {@code IBV_WR_SEND}. */
    public static final int OPCODE_SEND = 2;
    /** {@code IBV_WR_SEND_WITH_IMM}. */
    public static final int OPCODE_SEND_IMMEDIATE = 3;
    /** {@code IBV_WR_RDMA_READ}. */
    public static final int OPCODE_READ = 4;
    /** {@code IBV_WR_ATOMIC_CMP_AND_SWP}. */
    public static final int OPCODE_COMPARE_AND_SWAP = 5;
    /** {@code IBV_WR_ATOMIC_FETCH_AND_ADD}. */
    public static final int OPCODE_FETCH_AND_ADD = 6;
    /** {@code IBV_WR_LOCAL_INV}. */
    public static final int OPCODE_INVALIDATE = 7;
    /** {@code IBV_WR_BIND_MW}. */
    public static final int OPCODE_BIND_WINDOW = 8;
    /** {@code IBV_WR_SEND_WITH_INV}. */
    public static final int OPCODE_SEND_INVALIDATE = 9;

    /** {@code struct ibv_recv_wr}. */
    public static final GroupLayout RECEIVE = structLayout(
                    JAVA_LONG.withName("wr_id"),
                    POINTER.withName("next"),
                    POINTER.withName("sg_list"),
                    JAVA_INT.withName("num_sge"),
                    paddingLayout(4))
            .withName("ibv_recv_wr");

    /** Returned with the completion. */
    public static final long RECEIVE_WR_ID = VerbsAbi.offset(RECEIVE, "wr_id");
    /** Local entries. */
    public static final long RECEIVE_ENTRIES = VerbsAbi.offset(RECEIVE, "sg_list");
    /** Number of entries. */
    public static final long RECEIVE_ENTRY_COUNT = VerbsAbi.offset(RECEIVE, "num_sge");
    /** Bytes of a RECV. */
    public static final long RECEIVE_BYTES = RECEIVE.byteSize();

    /** {@code struct ibv_wc}; the driver writes it. */
    public static final GroupLayout COMPLETION = structLayout(
                    JAVA_LONG.withName("wr_id"),
                    JAVA_INT.withName("status"),
                    JAVA_INT.withName("opcode"),
                    JAVA_INT.withName("vendor_err"),
                    JAVA_INT.withName("byte_len"),
                    JAVA_INT.withName("imm_data"),
                    JAVA_INT.withName("qp_num"),
                    JAVA_INT.withName("src_qp"),
                    JAVA_INT.withName("wc_flags"),
                    JAVA_SHORT.withName("pkey_index"),
                    JAVA_SHORT.withName("slid"),
                    JAVA_BYTE.withName("sl"),
                    JAVA_BYTE.withName("dlid_path_bits"),
                    paddingLayout(2))
            .withName("ibv_wc");

    /** Of the work request. */
    public static final long COMPLETION_WR_ID = VerbsAbi.offset(COMPLETION, "wr_id");
    /** {@code enum ibv_wc_status}. */
    public static final long COMPLETION_STATUS = VerbsAbi.offset(COMPLETION, "status");
    /** {@code enum ibv_wc_opcode}. */
    public static final long COMPLETION_OPCODE = VerbsAbi.offset(COMPLETION, "opcode");
    /** More about a failure. */
    public static final long COMPLETION_VENDOR_ERROR = VerbsAbi.offset(COMPLETION, "vendor_err");
    /** Bytes, unsigned. */
    public static final long COMPLETION_LENGTH = VerbsAbi.offset(COMPLETION, "byte_len");
    /** The immediate, big endian; or the key that was taken back, in the byte order of this machine. */
    public static final long COMPLETION_IMMEDIATE = VerbsAbi.offset(COMPLETION, "imm_data");
    /** The queue pair. */
    public static final long COMPLETION_QUEUE_PAIR = VerbsAbi.offset(COMPLETION, "qp_num");
    /** The queue pair that sent a datagram. */
    public static final long COMPLETION_SOURCE = VerbsAbi.offset(COMPLETION, "src_qp");
    /** {@code enum ibv_wc_flags}. */
    public static final long COMPLETION_FLAGS = VerbsAbi.offset(COMPLETION, "wc_flags");
    /** Bytes of a completion. */
    public static final long COMPLETION_BYTES = COMPLETION.byteSize();

    private WorkRequestAbi() {}
}
