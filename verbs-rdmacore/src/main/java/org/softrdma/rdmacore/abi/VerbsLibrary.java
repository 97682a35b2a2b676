package org.softrdma.rdmacore.abi;

/**
 * Every C function that this provider calls, and nothing else: the seam between Java and native code. As thread-safe as
 * the C functions.
 *
 * <p>Pointers are {@code long} addresses of this process. A function that creates something returns its pointer or the
 * negated errno ({@link #isError}). Others return 0 or a positive errno, whichever of the three C conventions they
 * follow.
 */
public interface VerbsLibrary {
    /** The largest errno of Linux; no pointer is that close to the end of the address space. */
    int MAX_ERRNO = 4095;

    /**
     * True if a result is a negated errno.
     *
     * @param pointer what a function returned
     */
    static boolean isError(long pointer) {
        return pointer < 0 && pointer >= -MAX_ERRNO;
    }

    // ---- librdmacm: devices and connections

    /**
     * {@code rdma_get_devices}: a NULL-terminated array of contexts, which live until {@link #freeDevices}. Without
     * devices the result is an empty array or an error, depending on the library.
     */
    long getDevices();

    /** {@code rdma_free_devices}. */
    void freeDevices(long devices);

    /** {@code rdma_create_event_channel}. */
    long createEventChannel();

    /** {@code rdma_destroy_event_channel}. */
    void destroyEventChannel(long channel);

    /** {@code rdma_create_id}, port space TCP. */
    long createId(long channel, long cookie, int portSpace);

    /** {@code rdma_destroy_id}; waits until all events of the id are acknowledged. */
    int destroyId(long id);

    /** {@code rdma_bind_addr}. */
    int bindAddress(long id, long socketAddress);

    /** {@code rdma_listen}. */
    int listen(long id, int backlog);

    /** {@code rdma_resolve_addr}; {@code source} may be 0. */
    int resolveAddress(long id, long source, long destination, int timeoutMs);

    /** {@code rdma_resolve_route}. */
    int resolveRoute(long id, int timeoutMs);

    /** {@code rdma_create_qp}. */
    int createQueuePair(long id, long domain, long attributes);

    /** {@code rdma_destroy_qp}. */
    void destroyQueuePairOf(long id);

    /** {@code rdma_set_option} of {@code RDMA_OPTION_ID_ACK_TIMEOUT}: 4.096 us shifted left by {@code shift}. */
    int setAckTimeout(long id, int shift);

    /** {@code rdma_connect}; on siw it opens the TCP connection, which may take minutes. */
    int connect(long id, long parameters);

    /** {@code rdma_accept}. */
    int accept(long id, long parameters);

    /** {@code rdma_reject}. */
    int reject(long id, long privateData, int length);

    /** {@code rdma_disconnect}. */
    int disconnect(long id);

    /** {@code rdma_get_cm_event} on a channel that does not block: the event, or -EAGAIN. */
    long getConnectionEvent(long channel);

    /** {@code rdma_ack_cm_event}; frees the event. */
    int acknowledgeConnectionEvent(long event);

    // ---- libibverbs: objects

    /** {@code ibv_get_device_name}: a C string. */
    long deviceName(long device);

    /** {@code ibv_query_device}: fills an {@code ibv_device_attr}. */
    int queryDevice(long context, long attributes);

    /**
     * {@code ibv_query_port}, the exported symbol: fills the part of an {@code ibv_port_attr} before {@code
     * port_cap_flags2}.
     */
    int queryPort(long context, int port, long attributes);

    /** {@code ibv_query_gid}: fills a {@code union ibv_gid}. */
    int queryGid(long context, int port, int index, long gid);

    /** {@code ibv_create_ah}. */
    long createAddressHandle(long domain, long attributes);

    /** {@code ibv_destroy_ah}. */
    int destroyAddressHandle(long handle);

    /** {@code ibv_alloc_pd}. */
    long allocateDomain(long context);

    /** {@code ibv_dealloc_pd}. */
    int deallocateDomain(long domain);

    /** {@code ibv_reg_mr_iova2}: addresses of the region begin at {@code iova}. */
    long registerRegion(long domain, long address, long length, long iova, int access);

    /**
     * {@code ibv_rereg_mr}: 0, the errno if the region is as it was, or the negated errno if it must not be used any
     * more.
     *
     * @param changes {@code IBV_REREG_MR_CHANGE_*}; the other arguments are 0 where they do not change
     */
    int reregisterRegion(long region, int changes, long domain, long address, long length, int access);

    /** {@code ibv_dereg_mr}. */
    int deregisterRegion(long region);

    /** {@code ibv_create_comp_channel}. */
    long createCompletionChannel(long context);

    /** {@code ibv_destroy_comp_channel}. */
    int destroyCompletionChannel(long channel);

    /** {@code ibv_create_cq}; {@code channel} may be 0. */
    long createCompletionQueue(long context, int entries, long cookie, long channel, int vector);

    /** {@code ibv_resize_cq}. */
    int resizeCompletionQueue(long queue, int entries);

    /** {@code ibv_destroy_cq}; waits until all events of the queue are acknowledged. */
    int destroyCompletionQueue(long queue);

    /** {@code ibv_get_cq_event} on a channel that does not block: the queue, or an error; -EAGAIN if there is none. */
    long getCompletionEvent(long channel);

    /** {@code ibv_ack_cq_events}. */
    void acknowledgeCompletionEvents(long queue, int count);

    /**
     * {@code ibv_get_async_event} on a descriptor that does not block: fills an {@code ibv_async_event}; EAGAIN if
     * there is none.
     */
    int getAsyncEvent(long context, long event);

    /** {@code ibv_ack_async_event}. */
    void acknowledgeAsyncEvent(long event);

    /** {@code ibv_create_srq}: writes the sizes granted into its {@code ibv_srq_init_attr}. */
    long createSharedReceiveQueue(long domain, long attributes);

    /** {@code ibv_modify_srq}. */
    int modifySharedReceiveQueue(long queue, long attributes, int mask);

    /** {@code ibv_destroy_srq}; waits until all events of the queue are acknowledged. */
    int destroySharedReceiveQueue(long queue);

    /** {@code ibv_create_qp}. */
    long createQueuePair(long domain, long attributes);

    /** {@code ibv_modify_qp}. */
    int modifyQueuePair(long queuePair, long attributes, int mask);

    /** {@code ibv_destroy_qp}. */
    int destroyQueuePair(long queuePair);

    /**
     * The operations that a context's driver has put into {@code ibv_context.ops}.
     *
     * @throws AbiMismatchException if they cannot be addresses of functions
     */
    Operations operations(long context);

    /** The data path of a context, and windows. Results are the driver's: 0, an errno, or a negated errno (libsiw). */
    interface Operations {
        /**
         * {@code ibv_post_send}: a chain of {@code ibv_send_wr}; the first that was not taken goes to {@code *bad}.
         */
        int postSend(long queuePair, long workRequests, long bad);

        /** {@code ibv_post_recv}. */
        int postReceive(long queuePair, long workRequests, long bad);

        /** {@code ibv_post_srq_recv}; EOPNOTSUPP if the driver has none. */
        int postSharedReceive(long sharedQueue, long workRequests, long bad);

        /** {@code ibv_alloc_mw}: its pointer, or the negated errno; EOPNOTSUPP if the driver has none. */
        long allocateWindow(long domain, int type);

        /** {@code ibv_dealloc_mw}: 0 or an errno. */
        int deallocateWindow(long window);

        /** {@code ibv_poll_cq}: fills an array of {@code ibv_wc} and returns how many, or a negative number. */
        int poll(long queue, int max, long completions);

        /** {@code ibv_req_notify_cq}. */
        int requestNotification(long queue, int solicitedOnly);
    }

    // ---- libc: waiting for descriptors

    /** {@code poll(2)} on an array of {@code pollfd}: how many are ready, or a negated errno. */
    int poll(long descriptors, int count, int timeoutMs);

    /** {@code fcntl(2)}: sets O_NONBLOCK. */
    int setNonBlocking(int descriptor);

    /** {@code eventfd(2)}, not blocking: a descriptor that becomes readable by {@link #wake}; or a negated errno. */
    int createWakeDescriptor();

    /** Makes a wake descriptor readable. */
    void wake(int descriptor);

    /** Makes a wake descriptor unreadable again. */
    void quiet(int descriptor);

    /** {@code close(2)}. */
    void closeDescriptor(int descriptor);
}
