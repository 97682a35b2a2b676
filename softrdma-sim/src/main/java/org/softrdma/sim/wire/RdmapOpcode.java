package org.softrdma.sim.wire;

/** RDMAP opcodes (RFC 5040 section 4.3). */
public final class RdmapOpcode {
    /** RDMA Write. */
    public static final int WRITE = 0;
    /** RDMA Read Request. */
    public static final int READ_REQUEST = 1;
    /** RDMA Read Response. */
    public static final int READ_RESPONSE = 2;
    /** Send. */
    public static final int SEND = 3;
    /** Send with Invalidate. */
    public static final int SEND_INVALIDATE = 4;
    /** Send with Solicited Event. */
    public static final int SEND_SOLICITED = 5;
    /** Send with Solicited Event and Invalidate. */
    public static final int SEND_SOLICITED_INVALIDATE = 6;
    /** Terminate. */
    public static final int TERMINATE = 7;
    /** Number of opcodes known here. */
    public static final int COUNT = 8;

    private RdmapOpcode() {}
}
