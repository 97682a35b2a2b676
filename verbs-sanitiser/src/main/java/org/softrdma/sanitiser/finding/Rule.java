package org.softrdma.sanitiser.finding;

/** A rule of verbs that the sanitiser watches. The name of the constant is its stable identifier. */
public enum Rule {
    /** A request names a region that is deregistered. */
    USE_AFTER_DEREGISTRATION(
            "A request names only registered memory.",
            "ibv_dereg_mr(3)",
            "Close a region after the last request that names it has completed, or register the memory again."),

    /** Memory is freed while it is registered. */
    ARENA_CLOSED(
            "Registered memory stays allocated until its region is closed: the device uses raw addresses.",
            "ibv_reg_mr(3); ProtectionDomain.register",
            "Close the region first and the arena after it, or use VerbsDevice.allocateMemory."),

    /** A region is closed under a request that is still to complete. */
    DEREGISTERED_WHILE_OUTSTANDING(
            "A region stays registered until the completions of all requests that name it were polled.",
            "ibv_dereg_mr(3)",
            "Poll the completions first, or disconnect or close the queue pair before the region."),

    /** The buffer of a SEND or WRITE changed before its completion was polled. */
    SOURCE_TOUCHED(
            "The buffer of a SEND or WRITE belongs to the device until its completion was polled. An unsignalled"
                    + " request ends with the next signalled one of its send queue.",
            "ibv_post_send(3): buffers can be reused after a work completion has been retrieved",
            "Wait for the completion, use another buffer, or post with INLINE."),

    /** Something other than the message was written to the buffer of a RECV before its completion was polled. */
    SINK_TOUCHED(
            "The buffer of a RECV belongs to the device until its completion was polled.",
            "ibv_post_recv(3): buffers can be reused after a work completion has been retrieved",
            "Write to the buffer before you post it, or after its completion."),

    /** Two outstanding requests place data in the same bytes. */
    SINKS_OVERLAP(
            "Outstanding READs, atomics and RECVs need separate sinks: which of them places its data last is not"
                    + " defined.",
            "RFC 5040 section 5.5; RFC 5041 section 5.3; IBTA 9.5",
            "Give each outstanding request its own buffer, or poll the first completion before you post the second."),

    /** A full send queue has no signalled request, so no completion can ever free a slot. */
    SEND_QUEUE_STARVED(
            "The slot of an unsignalled request is freed by the completion of a later signalled one.",
            "ibv_post_send(3) IBV_SEND_SIGNALED; ibv_create_qp(3) sq_sig_all",
            "Signal at least one request in every queue depth, and poll its completion."),

    /** A SEND was posted before the peer posted a RECV for it. */
    SEND_WITHOUT_RECEIVE(
            "The peer posts a RECV before the SEND, or WRITE with immediate, that uses it is posted.",
            "RFC 5041 section 7.1 (no buffer: the connection ends); ibv_modify_qp(3) rnr_retry",
            "Post RECVs before you connect or accept, and give the peer credits for them."),

    /** A field of a failed completion was read that is only valid on success. */
    INVALID_FIELD_READ(
            "A failed completion has only wrId, status, qpNumber and vendorCode.",
            "ibv_poll_cq(3): not all attributes are always valid",
            "Check status() first; find the request by its wrId."),

    /** More requests are outstanding than their completion queue has entries. */
    COMPLETION_QUEUE_OVERCOMMITTED(
            "A completion queue has an entry for every request that may complete into it, including those that would be"
                    + " flushed.",
            "ibv_create_cq(3); IBTA 10.2.6.3: a full queue takes its queue pairs to ERROR",
            "Request as many entries as the depths of all its send and receive queues together."),

    /** A thread waits for an event of a queue that was armed and not polled since. */
    MISSED_WAKE_UP(
            "After arming, poll until the queue is empty, and only then wait: completions that arrived before raise"
                    + " no event.",
            "ibv_req_notify_cq(3), ibv_get_cq_event(3)",
            "Loop: requestNotification, poll until empty, await, acknowledgeEvents."),

    /** A thread waits again without arming the queue whose event it took. */
    NOT_REARMED(
            "An event disarms its queue: arm it again before you wait for the next one.",
            "ibv_req_notify_cq(3): the request is one-shot",
            "Loop: requestNotification, poll until empty, await, acknowledgeEvents."),

    /** A READ puts its data into a region that does not say so. */
    READ_SINK_NOT_DECLARED(
            "The sink of a READ is registered with the intent READ_SINK: iWARP hardware needs REMOTE_WRITE on it.",
            "RFC 5040 section 4.4 (the sink is named by its STag); AccessFlag.READ_SINK",
            "Register the sink with READ_SINK; the provider adds the rights that its transport needs."),

    /** An address handle is closed under a datagram that is still to be sent. */
    ADDRESS_HANDLE_CLOSED_WHILE_OUTSTANDING(
            "An address handle stays open until the completions of all datagrams that name it were polled. An"
                    + " unsignalled datagram ends with the next signalled one of its send queue.",
            "ibv_create_ah(3); SoftRoCE looks the handle up when it sends (rxe_av.c, rxe_get_av)",
            "Poll the completions first, or close the queue pair before the handle."),

    /** A datagram carries another queue key than that of the queue pair it goes to. */
    WRONG_QUEUE_KEY(
            "A datagram carries the queue key of the queue pair that it goes to, or nobody gets it and nobody is told.",
            "IBTA 10.2.5, Q_Key; ibv_post_send(3) wr.ud.remote_qkey",
            "Exchange the queue key together with the number, or let both sides know it."),

    /** A RECV of datagrams has no room for the routing header, or none behind it for the datagram that was sent. */
    RECEIVE_WITHOUT_ROOM_FOR_HEADER(
            "A RECV of datagrams has room for 40 bytes and the datagram, or the datagram is lost and nobody is told.",
            "ibv_post_recv(3); IBTA 11.4.1.2: the first 40 bytes of the buffer are for the GRH",
            "Make each RECV RoutingHeader.LENGTH bytes longer than the longest datagram that is sent to it."),

    /** An object is open when its device is closed. */
    LEAKED(
            "Close every object before the device, in reverse order of creation.",
            "ibv_close_device(3); VerbsDevice",
            "Close it where it was created, for example with try-with-resources.");

    private final String sentence;
    private final String source;
    private final String remedy;

    Rule(String sentence, String source, String remedy) {
        this.sentence = sentence;
        this.source = source;
        this.remedy = remedy;
    }

    /** The rule, in a sentence. */
    public String sentence() {
        return sentence;
    }

    /** Where it is written: man pages of rdma-core, InfiniBand specification (IBTA), RFCs, this API. */
    public String source() {
        return source;
    }

    /** What to do instead. */
    public String remedy() {
        return remedy;
    }
}
