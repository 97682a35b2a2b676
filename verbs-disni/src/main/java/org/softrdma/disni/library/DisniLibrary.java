package org.softrdma.disni.library;

import java.io.IOException;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import org.softrdma.ibverbs.CmEventType;

/**
 * The part of DiSNI's raw verbs layer that is used, with an interface per C object. Nothing here checks states: a call
 * on a destroyed object is an {@link IOException} at best, and {@code connect} or {@code accept} on an id without a
 * context ends the process. An {@link IOException}'s text names the C function and the error; if posting throws one,
 * nothing was posted.
 */
public interface DisniLibrary {
    /** {@code rdma_create_event_channel}. */
    EventChannel createEventChannel() throws IOException;

    /** A {@code rdma_event_channel}. The caller ensures that {@link #createId} and {@link #next} exclude each other. */
    interface EventChannel {
        /** {@code rdma_create_id}. */
        Id createId() throws IOException;

        /**
         * {@code rdma_get_cm_event} and {@code rdma_ack_cm_event}.
         *
         * @param timeoutMs how long to wait
         * @return null after the timeout, and also if the channel has failed
         */
        @Nullable
        Event next(int timeoutMs) throws IOException;

        /** {@code rdma_destroy_event_channel}. */
        void destroy() throws IOException;
    }

    /**
     * An event, acknowledged already; neither its status nor its private data is known.
     *
     * @param type what has happened
     * @param id the id that it concerns; of a connect request the new one; null if unknown
     * @param listener of a connect request, else null
     */
    record Event(
            CmEventType type, @Nullable Id id, @Nullable Id listener) {}

    /** A {@code rdma_cm_id}. */
    interface Id {
        /** {@code rdma_bind_addr}; IPv4. */
        void bind(InetSocketAddress local) throws IOException;

        /** {@code rdma_listen}. */
        void listen(int backlog) throws IOException;

        /** {@code rdma_resolve_addr}; IPv4. */
        void resolveAddress(InetSocketAddress remote, int timeoutMs) throws IOException;

        /** {@code rdma_resolve_route}. */
        void resolveRoute(int timeoutMs) throws IOException;

        /** Its device; null before one is known. */
        @Nullable
        Context context() throws IOException;

        /**
         * {@code rdma_create_qp}, reliably connected, with {@link InstalledDisni#ENTRIES} entries each way.
         *
         * @param domain of the id's device
         * @param sends where sends complete
         * @param receives where RECVs complete
         * @param maxSend outstanding sends
         * @param maxReceive outstanding RECVs
         * @param maxInline bytes
         */
        Pair createQueuePair(Domain domain, Queue sends, Queue receives, int maxSend, int maxReceive, int maxInline)
                throws IOException;

        /** {@code rdma_connect}, which may wait for TCP. Only once resolved, or the process ends. */
        void connect() throws IOException;

        /** {@code rdma_accept}. Only of a connect request, or the process ends. */
        void accept() throws IOException;

        /** {@code rdma_disconnect}. */
        void disconnect() throws IOException;

        /** {@code rdma_destroy_qp}. The caller ensures that it and {@link EventChannel#next} exclude each other. */
        void destroyQueuePair() throws IOException;

        /**
         * {@code rdma_destroy_id}; rejects an unanswered connect request. For a listening id the caller ensures that it
         * and {@link EventChannel#next} exclude each other.
         */
        void destroy() throws IOException;

        /** {@code rdma_get_local_addr}. */
        InetSocketAddress source() throws IOException;

        /** {@code rdma_get_peer_addr}. */
        InetSocketAddress destination() throws IOException;
    }

    /** An {@code ibv_context}; lives as long as an id that is bound to it. */
    interface Context {
        /** {@code ibv_context.cmd_fd}. */
        int commandDescriptor() throws IOException;

        /** {@code ibv_context.num_comp_vectors}. */
        int completionVectors() throws IOException;

        /** {@code ibv_alloc_pd}. */
        Domain allocateDomain() throws IOException;

        /**
         * {@code ibv_create_comp_channel} and {@code ibv_create_cq}: an event does not name its queue, so each has its
         * own channel.
         */
        Queue createQueue(int entries, int vector) throws IOException;
    }

    /** An {@code ibv_pd}. */
    interface Domain {
        /**
         * {@code ibv_reg_mr}.
         *
         * @param address of the memory, which the caller keeps
         * @param length bytes
         * @param access {@code enum ibv_access_flags}
         */
        Region register(long address, int length, int access) throws IOException;

        /** {@code ibv_dealloc_pd}; called once, even if it fails. */
        void deallocate() throws IOException;
    }

    /** An {@code ibv_mr}. */
    interface Region {
        /** The local key. */
        int lkey();

        /** The remote key. */
        int rkey();

        /** {@code ibv_dereg_mr}; called once, even if it fails. */
        void deregister() throws IOException;
    }

    /** An {@code ibv_cq} and its {@code ibv_comp_channel}. */
    interface Queue {
        /** A call of {@code ibv_poll_cq} for up to {@code entries} completions. */
        PreparedPoll preparePoll(int entries) throws IOException;

        /** {@code ibv_req_notify_cq}. */
        void requestNotification(boolean solicitedOnly) throws IOException;

        /**
         * {@code ibv_get_cq_event} and {@code ibv_ack_cq_events}. One thread at a time.
         *
         * @param timeoutMs how long to wait
         * @return false after the timeout, and also if the channel has failed
         */
        boolean takeEvent(int timeoutMs) throws IOException;

        /** {@code ibv_destroy_cq}, then {@code ibv_destroy_comp_channel}; called once, even if it fails. */
        void destroy() throws IOException;
    }

    /** An {@code ibv_qp}; destroyed through its id. */
    interface Pair {
        /** {@code ibv_qp.qp_num}. */
        int number() throws IOException;

        /**
         * A call of {@code ibv_post_send} for one request.
         *
         * @param opcode {@code enum ibv_wr_opcode}
         * @param entries local entries
         */
        PreparedSend prepareSend(int opcode, int entries) throws IOException;

        /**
         * A call of {@code ibv_post_recv} for one RECV.
         *
         * @param entries local entries
         */
        PreparedReceive prepareReceive(int entries) throws IOException;
    }

    /** A call that is executed many times, on native memory of its own. One thread at a time; freed exactly once. */
    interface Prepared {
        /** Frees the memory. */
        void free();
    }

    /** A post. */
    interface PreparedPost extends Prepared {
        /**
         * Sets a local entry.
         *
         * @param index less than the number of entries it was prepared for
         * @param address of the memory
         * @param length bytes, as unsigned
         * @param lkey local key
         */
        void entry(int index, long address, int length, int lkey);

        /** Posts. */
        void execute() throws IOException;
    }

    /** {@code ibv_post_send} of one request. */
    interface PreparedSend extends PreparedPost {
        /**
         * Sets the request.
         *
         * @param wrId native number
         * @param flags {@code enum ibv_send_flags}
         * @param remoteAddress of READ and WRITE
         * @param rkey of READ and WRITE
         */
        void request(long wrId, int flags, long remoteAddress, int rkey);
    }

    /** {@code ibv_post_recv} of one RECV. */
    interface PreparedReceive extends PreparedPost {
        /** Sets its native number. */
        void request(long wrId);
    }

    /** {@code ibv_poll_cq}. A completion is valid until the next execution; of a failed one only number and status. */
    interface PreparedPoll extends Prepared {
        /** Polls; returns the number of completions. */
        int execute() throws IOException;

        /** {@code wr_id}. */
        long wrId(int index);

        /** {@code enum ibv_wc_status}. */
        int status(int index);

        /** {@code enum ibv_wc_opcode}. */
        int opcode(int index);

        /** {@code byte_len}, as unsigned. */
        int byteLength(int index);
    }
}
