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

/**
 * The structures of {@code rdma/rdma_cma.h}, {@code sockaddr} and {@code pollfd} on LP64 Linux, with the offsets of the
 * fields that are used.
 */
public final class ConnectionManagerAbi {
    /** Bytes of {@code struct sockaddr_storage}. */
    public static final int SOCKET_ADDRESS_BYTES = 128;

    /** {@code struct rdma_cm_id}, as far as {@code port_num}; librdmacm writes it. */
    public static final GroupLayout ID = structLayout(
                    JAVA_LONG.withName("verbs"),
                    JAVA_LONG.withName("channel"),
                    JAVA_LONG.withName("context"),
                    JAVA_LONG.withName("qp"),
                    sequenceLayout(SOCKET_ADDRESS_BYTES, JAVA_BYTE).withName("src_addr"),
                    sequenceLayout(SOCKET_ADDRESS_BYTES, JAVA_BYTE).withName("dst_addr"),
                    sequenceLayout(56, JAVA_BYTE).withName("ibaddr_to_num_paths"),
                    JAVA_INT.withName("ps"),
                    JAVA_BYTE.withName("port_num"),
                    paddingLayout(3))
            .withName("rdma_cm_id");

    /** The context of its device, 0 before it has one. */
    public static final long ID_CONTEXT = VerbsAbi.offset(ID, "verbs");
    /** Its event channel. */
    public static final long ID_CHANNEL = VerbsAbi.offset(ID, "channel");
    /** The cookie it was created with. */
    public static final long ID_COOKIE = VerbsAbi.offset(ID, "context");
    /** Its queue pair. */
    public static final long ID_QUEUE_PAIR = VerbsAbi.offset(ID, "qp");
    /** The address of this side. */
    public static final long ID_SOURCE = VerbsAbi.offset(ID, "src_addr");
    /** The address of the peer. */
    public static final long ID_DESTINATION = VerbsAbi.offset(ID, "dst_addr");
    /** {@link #PORT_SPACE_TCP} or {@link #PORT_SPACE_UDP}. */
    public static final long ID_PORT_SPACE = VerbsAbi.offset(ID, "ps");
    /** {@code RDMA_PS_TCP}. */
    public static final int PORT_SPACE_TCP = 0x0106;
    /** {@code RDMA_PS_UDP}. */
    public static final int PORT_SPACE_UDP = 0x0111;

    /** {@code RDMA_OPTION_ID}. */
    public static final int OPTION_LEVEL_ID = 0;
    /** {@code RDMA_OPTION_ID_ACK_TIMEOUT}. */
    public static final int OPTION_ACK_TIMEOUT = 3;

    /** {@code struct rdma_event_channel} begins with its descriptor. */
    public static final long EVENT_CHANNEL_FD = 0;

    /** {@code struct rdma_conn_param}; this side writes it for connect and accept, librdmacm in an event. */
    public static final GroupLayout PARAMETERS = structLayout(
                    JAVA_LONG.withName("private_data"),
                    JAVA_BYTE.withName("private_data_len"),
                    JAVA_BYTE.withName("responder_resources"),
                    JAVA_BYTE.withName("initiator_depth"),
                    JAVA_BYTE.withName("flow_control"),
                    JAVA_BYTE.withName("retry_count"),
                    JAVA_BYTE.withName("rnr_retry_count"),
                    JAVA_BYTE.withName("srq"),
                    paddingLayout(1),
                    JAVA_INT.withName("qp_num"),
                    paddingLayout(4))
            .withName("rdma_conn_param");

    /** Pointer to the private data. */
    public static final long PARAMETERS_DATA = VerbsAbi.offset(PARAMETERS, "private_data");
    /** Bytes of private data, unsigned. */
    public static final long PARAMETERS_DATA_LENGTH = VerbsAbi.offset(PARAMETERS, "private_data_len");
    /** READs that the side answers at once, unsigned. */
    public static final long PARAMETERS_RESPONDER_RESOURCES = VerbsAbi.offset(PARAMETERS, "responder_resources");
    /** READs that the side has in flight, unsigned. */
    public static final long PARAMETERS_INITIATOR_DEPTH = VerbsAbi.offset(PARAMETERS, "initiator_depth");
    /** Flow control, a flag. */
    public static final long PARAMETERS_FLOW_CONTROL = VerbsAbi.offset(PARAMETERS, "flow_control");
    /** Retries of an unanswered request, 0 to 7. */
    public static final long PARAMETERS_RETRIES = VerbsAbi.offset(PARAMETERS, "retry_count");
    /** Retries of a SEND that finds no RECV, 0 to 6; 7 is for ever. */
    public static final long PARAMETERS_RNR_RETRIES = VerbsAbi.offset(PARAMETERS, "rnr_retry_count");

    /** Number of the queue pair, of one that has none. */
    public static final long PARAMETERS_QUEUE_PAIR = VerbsAbi.offset(PARAMETERS, "qp_num");

    /**
     * {@code struct rdma_ud_param}, which stands in an event of datagrams for the above; data and its length are at the
     * same places.
     */
    public static final GroupLayout DATAGRAM_PARAMETERS = structLayout(
                    JAVA_LONG.withName("private_data"),
                    JAVA_BYTE.withName("private_data_len"),
                    paddingLayout(7),
                    sequenceLayout(4, JAVA_LONG).withName("ah_attr"),
                    JAVA_INT.withName("qp_num"),
                    JAVA_INT.withName("qkey"))
            .withName("rdma_ud_param");

    /** Number of the queue pair that takes datagrams. */
    public static final long DATAGRAM_QUEUE_PAIR = VerbsAbi.offset(DATAGRAM_PARAMETERS, "qp_num");
    /** Its queue key. */
    public static final long DATAGRAM_QUEUE_KEY = VerbsAbi.offset(DATAGRAM_PARAMETERS, "qkey");

    /** {@code struct rdma_cm_event}; librdmacm writes it. */
    public static final GroupLayout EVENT = structLayout(
                    JAVA_LONG.withName("id"),
                    JAVA_LONG.withName("listen_id"),
                    JAVA_INT.withName("event"),
                    JAVA_INT.withName("status"),
                    PARAMETERS.withName("param"),
                    sequenceLayout(4, JAVA_LONG).withName("rest_of_param"))
            .withName("rdma_cm_event");

    /** The id it is about. */
    public static final long EVENT_ID = VerbsAbi.offset(EVENT, "id");
    /** The listener, of a connect request. */
    public static final long EVENT_LISTEN_ID = VerbsAbi.offset(EVENT, "listen_id");
    /** One of the {@code EVENT_} numbers of {@code enum rdma_cm_event_type}. */
    public static final long EVENT_TYPE = VerbsAbi.offset(EVENT, "event");
    /** Negated errno, or a reason of the transport. */
    public static final long EVENT_STATUS = VerbsAbi.offset(EVENT, "status");
    /** Connection parameters. */
    public static final long EVENT_PARAMETERS = EVENT.byteOffset(groupElement("param"));

    /** {@code struct sockaddr_in}: network byte order but for the family. */
    public static final GroupLayout SOCKET_ADDRESS_4 = structLayout(
                    JAVA_SHORT.withName("sin_family"),
                    JAVA_SHORT.withName("sin_port"),
                    sequenceLayout(4, JAVA_BYTE).withName("sin_addr"),
                    paddingLayout(8))
            .withName("sockaddr_in");

    /** {@code struct sockaddr_in6}: network byte order but for family and scope. */
    public static final GroupLayout SOCKET_ADDRESS_6 = structLayout(
                    JAVA_SHORT.withName("sin6_family"),
                    JAVA_SHORT.withName("sin6_port"),
                    JAVA_INT.withName("sin6_flowinfo"),
                    sequenceLayout(16, JAVA_BYTE).withName("sin6_addr"),
                    JAVA_INT.withName("sin6_scope_id"))
            .withName("sockaddr_in6");

    /** {@code AF_INET}. */
    public static final short FAMILY_4 = 2;
    /** {@code AF_INET6}. */
    public static final short FAMILY_6 = 10;
    /** Family of either. */
    public static final long ADDRESS_FAMILY = 0;
    /** Port of either, big endian. */
    public static final long ADDRESS_PORT = VerbsAbi.offset(SOCKET_ADDRESS_4, "sin_port");
    /** The 4 bytes of an IPv4 address. */
    public static final long ADDRESS_4 = VerbsAbi.offset(SOCKET_ADDRESS_4, "sin_addr");
    /** The 16 bytes of an IPv6 address. */
    public static final long ADDRESS_6 = VerbsAbi.offset(SOCKET_ADDRESS_6, "sin6_addr");
    /** The interface of a link-local IPv6 address. */
    public static final long ADDRESS_6_SCOPE = VerbsAbi.offset(SOCKET_ADDRESS_6, "sin6_scope_id");

    /** {@code struct pollfd}. */
    public static final GroupLayout POLL_DESCRIPTOR = structLayout(
                    JAVA_INT.withName("fd"), JAVA_SHORT.withName("events"), JAVA_SHORT.withName("revents"))
            .withName("pollfd");

    /** The descriptor. */
    public static final long POLL_FD = VerbsAbi.offset(POLL_DESCRIPTOR, "fd");
    /** The events to wait for. */
    public static final long POLL_EVENTS = VerbsAbi.offset(POLL_DESCRIPTOR, "events");
    /** The events that have occurred. */
    public static final long POLL_REVENTS = VerbsAbi.offset(POLL_DESCRIPTOR, "revents");
    /** {@code POLLIN}. */
    public static final short POLL_READABLE = 1;

    private ConnectionManagerAbi() {}
}
