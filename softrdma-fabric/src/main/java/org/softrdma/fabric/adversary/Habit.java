package org.softrdma.fabric.adversary;

/** What a device may do although a program would like it not to: each habit with the rule of verbs that allows it. */
public enum Habit {
    /**
     * The vendor code of a failed completion is any number. {@code ibv_poll_cq(3)}: if the status is not success, only
     * wr_id, status, qp_num and vendor_err are valid, and vendor_err is the vendor's. So a program must not decide by
     * it. The invalid fields need no garbage: {@code opcode()} and {@code byteLength()} of a {@code WorkCompletion}
     * throw for every failure, on every device.
     */
    VENDOR_CODES,

    /**
     * Events of a completion queue are merged while one of them has not been taken. {@code
     * CompletionQueue.requestNotification}: several completions may share one event; {@code ibv_get_cq_event(3)}: after
     * an event, poll the queue until it is empty. So a program must not count events.
     */
    MERGED_EVENTS,

    /**
     * An event comes without a completion, and takes the arming with it. {@code CompletionQueue.requestNotification}:
     * an event may come without a completion, as when one was polled between {@code ibv_req_notify_cq(3)} and {@code
     * ibv_get_cq_event(3)}; a request for notification is for one event. So after each event a program arms again, and
     * does not wait for a completion that it takes for granted.
     */
    SPURIOUS_EVENTS,

    /**
     * Numbers of queue pairs and keys of regions come again at once. {@code ibv_create_qp(3)} and {@code ibv_reg_mr(3)}
     * promise numbers that are unique among the living, and nothing after {@code ibv_destroy_qp(3)} and {@code
     * ibv_dereg_mr(3)}. So a program must not take an old number for a sign that its object is gone, and must take
     * rkeys back from its peers before it deregisters.
     */
    NUMBERS_AGAIN,

    /**
     * A completion becomes visible later than one of another queue that came after it. {@code CompletionQueue}:
     * completions of one send queue, or of one receive queue, arrive in posting order; those of different queues in any
     * order. So the RECV of an answer may come before the completion of the SEND that asked.
     */
    QUEUES_IN_ANY_ORDER,

    /**
     * A READ fetches its data late, so that a WRITE posted after it overtakes it. RFC 5040 section 5.5: a READ request
     * is queued at the responder, and messages behind it may be placed before its response is made; {@code
     * ibv_post_send(3)}: IBV_SEND_FENCE makes a request wait for the READs before it. So a WRITE to memory that is
     * being READ needs {@code FENCE}. The fabric does it by a responder whose send buffer takes nothing for a while, as
     * a kernel without memory does.
     */
    LATE_READS
}
