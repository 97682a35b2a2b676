package org.softrdma.bench.perftest;

import org.softrdma.verbs.SendOpcode;

/** The six tests of perftest that the verbs API can run. */
public enum PerfTest {
    /** {@code ib_read_lat}: the round trip of one READ. */
    READ_LATENCY(1, "read-lat", "RDMA_Read Latency Test", SendOpcode.READ, true),
    /** {@code ib_read_bw}. */
    READ_BANDWIDTH(2, "read-bw", "RDMA_Read BW Test", SendOpcode.READ, false),
    /**
     * {@code ib_write_lat}, half of a ping-pong. Each side WRITEs and sends an empty SEND behind it; the other side answers
     * when its RECV completes. perftest polls the last byte of the memory instead, which relies on data arriving in order
     * and on memory that a processor sees without a completion: no transport here promises that, so a figure of this test
     * includes one more message than perftest's.
     */
    WRITE_LATENCY(
            3, "write-lat", "RDMA_Write Latency Test (WRITE and an empty SEND behind it)", SendOpcode.WRITE, true),
    /** {@code ib_write_bw}; ends with a READ behind the last WRITE, so that all data has arrived. */
    WRITE_BANDWIDTH(4, "write-bw", "RDMA_Write BW Test", SendOpcode.WRITE, false),
    /** {@code ib_send_lat}: half of a ping-pong. */
    SEND_LATENCY(5, "send-lat", "Send Latency Test", SendOpcode.SEND, true),
    /** {@code ib_send_bw}; the receiver grants credits, because a SEND that finds no RECV may end the connection. */
    SEND_BANDWIDTH(6, "send-bw", "Send BW Test", SendOpcode.SEND, false);

    private final int number;
    private final String command;
    private final String title;
    private final SendOpcode opcode;
    private final boolean latency;

    PerfTest(int number, String command, String title, SendOpcode opcode, boolean latency) {
        this.number = number;
        this.command = command;
        this.title = title;
        this.opcode = opcode;
        this.latency = latency;
    }

    /** The name on the command line. */
    public String command() {
        return command;
    }

    /** Its number in a {@link PerfMessage#HELLO}. */
    public int number() {
        return number;
    }

    /**
     * The name of the test with a number, for messages.
     *
     * @param number from a {@link PerfMessage#HELLO}
     */
    static String commandOf(long number) {
        for (PerfTest test : values()) {
            if (test.number == number) {
                return test.command;
            }
        }
        return "test " + number;
    }

    /** The title above the table. */
    public String title() {
        return title;
    }

    /** The operation measured. */
    public SendOpcode opcode() {
        return opcode;
    }

    /** True if it measures latency, false if bandwidth. */
    public boolean isLatency() {
        return latency;
    }

    /** True if two messages cross per operation measured, so that half of the round trip is reported. */
    boolean isPingPong() {
        return latency && opcode != SendOpcode.READ;
    }
}
