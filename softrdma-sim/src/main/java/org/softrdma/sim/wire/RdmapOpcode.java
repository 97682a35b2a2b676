package org.softrdma.sim.wire;

/** RDMAP opcodes (RFC 5040 section 4.3, RFC 7306 section 4.1). */
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
    /** Immediate Data. */
    public static final int IMMEDIATE = 8;
    /** Immediate Data with Solicited Event. */
    public static final int IMMEDIATE_SOLICITED = 9;
    /** Atomic Request. */
    public static final int ATOMIC_REQUEST = 10;
    /** Atomic Response. */
    public static final int ATOMIC_RESPONSE = 11;
    /** Number of opcodes known here. */
    public static final int COUNT = 12;

    private RdmapOpcode() {}
}
